import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { apiOf, DEPLOYED, fakePages, type Json, newApp, only, rendered, resources, synthesized, synthesizedIn, target } from './stack.ts';

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
  test('is read only by this distribution', () => {
    const { Statement } = only(template, 'AWS::S3::BucketPolicy').properties.PolicyDocument;
    const allowed = Statement.filter((each: Json) => each.Effect === 'Allow');
    expect(allowed.map((each: Json) => [each.Principal, each.Action])).toEqual([[{ Service: 'cloudfront.amazonaws.com' }, 's3:GetObject']]);
    const distribution = only(template, 'AWS::CloudFront::Distribution').id;
    expect(JSON.stringify(allowed[0].Condition.StringEquals['AWS:SourceArn'])).toContain(`"${distribution}"`);
    expect(Statement.filter((each: Json) => each.Effect === 'Deny')).toHaveLength(1);
  });

  test('has the pages, each kind of file with its cache time, and keeps the files of the previous version', () => {
    const uploads = resources(template, 'Custom::CDKBucketDeployment');
    const told = uploads.map(({ properties }) => [properties.DestinationBucketKeyPrefix ?? '', properties.SystemMetadata['cache-control']]);
    expect(Object.fromEntries(told)).toEqual({ assets: 'public, max-age=31536000, immutable', art: 'public, max-age=86400', '': 'no-cache' });
    for (const { properties } of uploads) {
      expect(target(properties.DestinationBucketName)).toBe(bucket.id);
      expect(properties.Prune).toBe(false);
    }
    expect(readdirSync(stagedWith('index.html')).sort()).toEqual(['index.html', 'operators.html']);
    expect(readdirSync(stagedWith('index-B00.js'))).toEqual(['index-B00.js']);
    expect(readdirSync(stagedWith('lamp.svg'))).toEqual(['lamp.svg']);
  });

  test('gets the files that a page names before the page, and is emptied when it is deleted', () => {
    const uploads = resources(template, 'Custom::CDKBucketDeployment');
    const [last, ...others] = uploads.toSorted((one) => (one.properties.DestinationBucketKeyPrefix === undefined ? -1 : 1));
    for (const { id } of others) expect(last!.dependsOn).toContain(id);
    expect(last!.properties.RetainOnDelete).toBe(false);
  });

  test('gets nothing before everything is built', () => {
    const pages = fakePages();
    rmSync(join(pages, 'operators.html'));
    expect(() => synthesizedIn(newApp(), settings, undefined, pages)).toThrow(/not built: no operators\.html in .*\.\/flash pages/);
  });
});

test.each([undefined, 'mailto:help@example.com'])('the page knows where to sign in, pay and listen, and whom to contact: %s', (contactUrl) => {
  const other = newApp();
  const { Resources } = synthesizedIn(other, { ...settings, edge: { ...settings.edge!, contactUrl } }).toJSON();
  const [folder] = readdirSync(other.outdir).map((name) => join(other.outdir, name)).filter((path) => existsSync(join(path, 'config.json')));
  const text = readFileSync(join(folder!, 'config.json'), 'utf8');
  // Markers stand for values that are only known when it is deployed.
  const told = Object.values<Json>(Resources).flatMap(({ Properties }) => Properties?.SourceMarkers ?? []);
  const marks: [string, Json][] = told.flatMap(Object.entries);
  const config = JSON.parse(marks.reduce((filled, [mark, value]) => filled.replaceAll(mark, rendered(value)), text));
  expect(config).toEqual({
    login: { kind: 'oidc', issuer: 'https://id.example.com', client_id: 'shop' },
    pay: { kind: 'link', url: 'https://pay.example.com/' },
    push_url: `wss://{${push}}.execute-api.{AWS::Region}.{AWS::URLSuffix}/push`,
    ...(contactUrl === undefined ? {} : { contact: contactUrl }),
  });
});

describe('the edge in front of the page', () => {
  test('serves it wherever there is no API', () => {
    const [origin] = config.Origins;
    expect(JSON.stringify(origin.DomainName)).toContain(`"${bucket.id}"`);
    expect(target(origin.OriginAccessControlId)).toBe(only(template, 'AWS::CloudFront::OriginAccessControl').id);
    expect(config.DefaultRootObject).toBe('index.html');
    expect(config.DefaultCacheBehavior).toMatchObject({ TargetOriginId: origin.Id, ViewerProtocolPolicy: 'redirect-to-https' });
  });

  test('lets it run its own files and connect to its own origin, its push and its issuer', () => {
    const headers = only(template, 'AWS::CloudFront::ResponseHeadersPolicy');
    expect(target(config.DefaultCacheBehavior.ResponseHeadersPolicyId)).toBe(headers.id);
    const { SecurityHeadersConfig, CustomHeadersConfig } = headers.properties.ResponseHeadersPolicyConfig;
    expect(rendered(SecurityHeadersConfig.ContentSecurityPolicy.ContentSecurityPolicy)).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
        `connect-src 'self' wss://{${push}}.execute-api.{AWS::Region}.{AWS::URLSuffix} https://id.example.com; ` +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(SecurityHeadersConfig).toMatchObject({
      ContentSecurityPolicy: { Override: true },
      ContentTypeOptions: { Override: true },
      ReferrerPolicy: { ReferrerPolicy: 'no-referrer', Override: true },
      StrictTransportSecurity: { AccessControlMaxAgeSec: 31_536_000, Override: true },
    });
    expect(CustomHeadersConfig.Items).toEqual([{ Header: 'Cross-Origin-Opener-Policy', Value: 'same-origin', Override: true }]);
  });

  test('lets it request tokens from another host of the issuer', () => {
    const signInOrigins = ['https://tokens.example.com', 'https://id.example.com'];
    const other = synthesized({ ...settings, edge: { ...settings.edge!, signInOrigins } });
    const headers = JSON.stringify(resources(other, 'AWS::CloudFront::ResponseHeadersPolicy'));
    expect(headers).toContain(' https://id.example.com https://tokens.example.com; base-uri');
  });
});
