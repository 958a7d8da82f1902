import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { apiOf, DEPLOYED, type Json, newApp, only, resources, synthesized, synthesizedIn, target } from './stack.ts';

const settings = DEPLOYED.prod;
const app = newApp();
const template = synthesizedIn(app, settings);
const bucket = only(template, 'AWS::S3::Bucket');
const { DistributionConfig: config } = only(template, 'AWS::CloudFront::Distribution').properties;
const push = apiOf(template, 'WEBSOCKET').id;

/** The folder that CDK uploads with this file in it. */
function stagedWith(file: string): string {
  const folders = readdirSync(app.outdir).map((name) => join(app.outdir, name));
  const found = folders.filter((path) => statSync(path).isDirectory() && existsSync(join(path, file)));
  if (found.length !== 1) throw new Error(`expected one folder with ${file}, found ${found.length}`);
  return found[0]!;
}

describe('the page\'s bucket', () => {
  test('is closed', () => {
    expect(bucket.properties.PublicAccessBlockConfiguration).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
  });

  test('is read by this distribution alone', () => {
    const { Statement } = only(template, 'AWS::S3::BucketPolicy').properties.PolicyDocument;
    const allowed = Statement.filter((each: Json) => each.Effect === 'Allow');
    expect(allowed.map((each: Json) => [each.Principal, each.Action])).toEqual([
      [{ Service: 'cloudfront.amazonaws.com' }, 's3:GetObject'],
    ]);
    const distribution = only(template, 'AWS::CloudFront::Distribution').id;
    expect(JSON.stringify(allowed[0].Condition.StringEquals['AWS:SourceArn'])).toContain(`"${distribution}"`);
    expect(Statement.filter((each: Json) => each.Effect === 'Deny')).toHaveLength(1);
  });

  test('has the page in it, nothing of its workshop, and asks whether a file is new', () => {
    const { DestinationBucketName, SystemMetadata } = only(template, 'Custom::CDKBucketDeployment').properties;
    expect(target(DestinationBucketName)).toBe(bucket.id);
    expect(SystemMetadata).toEqual({ 'cache-control': 'no-cache' });
    const files = readdirSync(stagedWith('index.html'));
    expect(files).toEqual(expect.arrayContaining(['index.html', 'operators.html', 'style.css', 'js', 'words', 'art']));
    expect(files.filter((name) => /^(test|node_modules|package.*|.*config\.js|.*\.md)$/.test(name))).toEqual([]);
  });
});

test('the page is told where to sign in, to pay and to listen', () => {
  const text = readFileSync(join(stagedWith('config.json'), 'config.json'), 'utf8');
  // What is known when it is deployed is put in the place of marks then.
  const marks: [string, Json][] = only(template, 'Custom::CDKBucketDeployment').properties.SourceMarkers.flatMap(Object.entries);
  const config = JSON.parse(marks.reduce((filled, [mark, { Ref }]) => filled.replaceAll(mark, `{${Ref}}`), text));
  expect(config).toEqual({
    login: { kind: 'oidc', issuer: 'https://id.example.com', client_id: 'shop' },
    pay: { kind: 'link', url: 'https://pay.example.com/' },
    push_url: `wss://{${push}}.execute-api.{AWS::Region}.{AWS::URLSuffix}/push`,
  });
});

describe('the edge in front of the page', () => {
  test('has it wherever there is no API', () => {
    const [origin] = config.Origins;
    expect(JSON.stringify(origin.DomainName)).toContain(`"${bucket.id}"`);
    expect(target(origin.OriginAccessControlId)).toBe(only(template, 'AWS::CloudFront::OriginAccessControl').id);
    expect(config.DefaultRootObject).toBe('index.html');
    expect(config.DefaultCacheBehavior).toMatchObject({
      TargetOriginId: origin.Id,
      ViewerProtocolPolicy: 'redirect-to-https',
    });
  });

  test('lets it run its own files and talk to its own origin, its push and its issuer', () => {
    const headers = only(template, 'AWS::CloudFront::ResponseHeadersPolicy');
    expect(target(config.DefaultCacheBehavior.ResponseHeadersPolicyId)).toBe(headers.id);
    const { SecurityHeadersConfig, CustomHeadersConfig } = headers.properties.ResponseHeadersPolicyConfig;
    expect(SecurityHeadersConfig.ContentSecurityPolicy).toEqual({
      ContentSecurityPolicy: {
        'Fn::Join': [
          '',
          [
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' wss://",
            { Ref: push },
            '.execute-api.',
            { Ref: 'AWS::Region' },
            '.',
            { Ref: 'AWS::URLSuffix' },
            " https://id.example.com; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
          ],
        ],
      },
      Override: true,
    });
    expect(SecurityHeadersConfig).toMatchObject({
      ContentTypeOptions: { Override: true },
      ReferrerPolicy: { ReferrerPolicy: 'no-referrer', Override: true },
      StrictTransportSecurity: { AccessControlMaxAgeSec: 31_536_000, Override: true },
    });
    expect(CustomHeadersConfig.Items).toEqual([
      { Header: 'Cross-Origin-Opener-Policy', Value: 'same-origin', Override: true },
    ]);
  });

  test('lets it ask for tokens at another host of the issuer', () => {
    const page = { ...settings.edge!.page, signInOrigins: ['https://tokens.example.com', 'https://id.example.com'] };
    const other = synthesized({ ...settings, edge: { ...settings.edge!, page } });
    const headers = JSON.stringify(resources(other, 'AWS::CloudFront::ResponseHeadersPolicy'));
    expect(headers).toContain(' https://id.example.com https://tokens.example.com; base-uri');
  });
});
