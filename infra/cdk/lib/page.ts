import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as deployment from 'aws-cdk-lib/aws-s3-deployment';
import { Construct } from 'constructs';
import { accept, logGroup } from './cdk.ts';
import type { Identity } from './identity.ts';
import type { PushApi } from './push-api.ts';
import { type EdgeSettings, type Settings, UsageError } from './settings.ts';

/** Their names contain a hash of their content (`web/build.js`). */
const ASSETS = 'assets';
const FOR_GOOD = [deployment.CacheControl.setPublic(), deployment.CacheControl.maxAge(Duration.days(365)), deployment.CacheControl.immutable()];
/** Drawings, which sales refer to by path. */
const ART = 'art';
const FOR_A_DAY = [deployment.CacheControl.setPublic(), deployment.CacheControl.maxAge(Duration.days(1))];
const TLS_ONLY_FOR = Duration.days(365);
/** Where a deployment without a payment provider sends its buyers. */
const NO_PROVIDER = 'no-payment-provider.html';
const HOW_TO_PAY = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>No payment provider</title>
<h1>No payment provider</h1>
<p>This deployment has none. To pay, run <code>./flash pay dev --id … --price-minor 990 --currency EUR</code> in the checkout, with the
<code>reservation_id</code> from the address of this page and the price in cents, and go back to the shop.</p>
</html>
`;

export interface PageProps {
  settings: Settings;
  /** The folder of the built pages. */
  pages: string;
  edge: EdgeSettings;
  identity: Identity;
  push: PushApi;
}

/** The shop's and the operators' page: files in a bucket that only CloudFront can read. */
export class Page extends Construct {
  readonly behavior: cloudfront.BehaviorOptions;

  constructor(scope: Construct, id: string, props: PageProps) {
    super(scope, id);
    const { settings, push } = props;
    const bucket = new s3.Bucket(this, 'Files', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    accept(bucket, 'S1', 'Only CloudFront reads it, and its content is public.');
    // Browsers with the previous version's page still use its files, so none is deleted.
    const common = { destinationBucket: bucket, prune: false, logGroup: logGroup(this, 'UploadLog', settings) };
    const pages = built(props.pages);
    const uploaded = (folder: string, cacheControl: deployment.CacheControl[]): deployment.BucketDeployment => {
      const sources = [deployment.Source.asset(join(pages, folder))];
      return new deployment.BucketDeployment(this, `Upload-${folder}`, { ...common, sources, destinationKeyPrefix: folder, cacheControl });
    };
    const named = [uploaded(ASSETS, FOR_GOOD), uploaded(ART, FOR_A_DAY)];
    const upload = new deployment.BucketDeployment(this, 'Upload', {
      ...common,
      sources: [
        deployment.Source.asset(pages, { exclude: [ASSETS, ART] }),
        deployment.Source.jsonData('config.json', {
          // An ID token is for the client that asked for it, so the gateway's audience includes the client.
          login: { kind: 'oidc', issuer: props.identity.issuer, client_id: props.identity.audience[0] },
          pay: { kind: 'link', url: props.edge.payUrl ?? `/${NO_PROVIDER}` },
          push_url: push.url,
          ...(props.edge.contactUrl === undefined ? {} : { contact: props.edge.contactUrl }),
        }),
        ...(props.edge.payUrl === undefined ? [deployment.Source.data(NO_PROVIDER, HOW_TO_PAY)] : []),
      ],
      // These name the files of this version.
      cacheControl: [deployment.CacheControl.noCache()],
      // The bucket is deleted with the stack, so it must be empty.
      retainOnDelete: false,
    });
    // A page is uploaded after the files that it names.
    upload.node.addDependency(...named);

    acceptUpload(upload, bucket);

    // These names are global to the account, across regions.
    const name = `${settings.name}-page-${Stack.of(this).region}`;
    this.behavior = {
      origin: S3BucketOrigin.withOriginAccessControl(bucket, {
        originAccessControl: new cloudfront.S3OriginAccessControl(this, 'Access', { originAccessControlName: name }),
      }),
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      // Keeps a file for a second in spite of `no-cache`, and then revalidates it.
      cachePolicy: cloudfront.CachePolicy.CACHING_OPTIMIZED,
      responseHeadersPolicy: this.headers(name, [push.origin, ...new Set([...props.identity.origins, ...props.edge.signInOrigins])], settings),
    };
  }

  /** Only the page's own files may run, pictures may also come from the hosts in the settings, and the page may only talk to its
   * own origin, its push API and its issuer. */
  private headers(name: string, connectTo: string[], settings: Settings): cloudfront.ResponseHeadersPolicy {
    const contentSecurityPolicy = [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      ["img-src 'self' data:", ...settings.pictureHosts.map((host) => `https://${host}`)].join(' '),
      ["connect-src 'self'", ...connectTo].join(' '),
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; ');
    return new cloudfront.ResponseHeadersPolicy(this, 'Headers', {
      responseHeadersPolicyName: name,
      securityHeadersBehavior: {
        contentSecurityPolicy: { contentSecurityPolicy, override: true },
        contentTypeOptions: { override: true },
        referrerPolicy: { referrerPolicy: cloudfront.HeadersReferrerPolicy.NO_REFERRER, override: true },
        strictTransportSecurity: { accessControlMaxAge: TLS_ONLY_FOR, override: true },
      },
      customHeadersBehavior: { customHeaders: [{ header: 'Cross-Origin-Opener-Policy', value: 'same-origin', override: true }] },
    });
  }
}

/** The folder, if it has the pages. CDK never builds anything itself. */
function built(folder: string): string {
  for (const each of ['index.html', 'operators.html', ASSETS, ART]) {
    if (existsSync(join(folder, each))) continue;
    throw new UsageError(`The pages are not built: no ${each} in ${folder}. Run \`./flash pages\` first.`);
  }
  return folder;
}

/** CDK has its own function that fills a bucket, and creates its role itself. */
function acceptUpload({ handlerRole }: deployment.BucketDeployment, bucket: s3.Bucket): void {
  const filler = handlerRole.node.scope;
  if (filler === undefined) throw new Error('The upload has no role');
  const reason = "It is CDK's own function, which only runs during deployments.";
  const to = Stack.of(bucket).getLogicalId(bucket.node.defaultChild as s3.CfnBucket);
  const { bootstrapQualifier } = Stack.of(bucket).synthesizer;
  const assets = `arn:<AWS::Partition>:s3:::cdk-${bootstrapQualifier}-assets-<AWS::AccountId>-<AWS::Region>`;
  accept(filler, 'L1', reason);
  accept(filler, 'IAM4', reason, 'Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole');
  for (const verb of ['Abort', 'DeleteObject', 'GetBucket', 'GetObject', 'List']) {
    accept(filler, 'IAM5', reason, `Action::s3:${verb}*`);
  }
  for (const objects of [assets, `<${to}.Arn>`]) accept(filler, 'IAM5', reason, `Resource::${objects}/*`);
}
