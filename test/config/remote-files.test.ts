import { describe, expect, it } from 'vitest';
import { complain, hostKey, parse } from './writing.js';

const account = { username: 'agency', password: 'hush-canary', hostKey };
const csvAt = (path: string, others: object = {}) => ({ source: { kind: 'csv', path, ...others } });

describe('a source with remote files', () => {
  it.each(['s3://bucket/{day}.csv.gz', 'sftp://drop.example.com/{day:yyyy/MM}/{day}.csv'])(
    'keeps its path as written, while local paths are resolved: %s',
    (path) => {
      expect(parse(csvAt(path, { sftp: account })).source).toHaveProperty('path', path);
      expect(parse(csvAt('x/{day}.csv')).source).toHaveProperty('path', '/etc/agency/x/{day}.csv');
    },
  );

  it('on an SFTP server has its own account, with a key file relative to the configuration', () => {
    const sftp = { username: 'agency', privateKeyFile: 'keys/drop', hostKey };
    expect(parse(csvAt('sftp://drop/{day}.csv', { sftp })).source).toHaveProperty('sftp', {
      username: 'agency',
      privateKeyFile: '/etc/agency/keys/drop',
      hostKey,
    });
  });

  it.each(['csv', 'ndjson'])('on an SFTP server needs an account: %s', (kind) => {
    expect(complain({ source: { kind, path: 'sftp://drop/{day}' } })).toEqual([
      'source.sftp: expected a group with username, hostKey and a password or a privateKeyFile, as path or doneMarker is sftp://…, got: nothing',
    ]);
  });

  it('needs a host key, and a password or a private key', () => {
    expect(complain(csvAt('sftp://drop/{day}', { sftp: { username: 'agency' } }))).toEqual([
      expect.stringMatching(/^source\.sftp\.hostKey: expected a fingerprint/),
      'source.sftp: must hold a password or a privateKeyFile',
    ]);
  });

  it.each([
    's3://bucket',
    's3://{day}/x',
    's3://id:hush-canary@bucket/{day}',
    's3://bucket/../{day}',
    'sftp://agency:hush-canary@drop/{day}',
    'sftp://drop/../{day}',
    'https://example.com/{day}',
  ])('is refused as %s, which is not quoted', (path) => {
    const [problem, ...others] = complain(csvAt(path, { sftp: account }));
    expect(problem).toMatch(/^source\.path: expected a path, s3:\/\/BUCKET\/KEY or sftp:/);
    expect(problem).not.toContain('hush-canary');
    expect(others).toEqual([]);
  });

  it('is refused if a pattern leads to another folder', () => {
    expect(complain(csvAt("s3://bucket/{day:'../'yyyy}"))).toEqual([
      expect.stringMatching(/^source\.path: expected a path with no braces but/),
    ]);
  });

  it('reports a password in the file as literal', () => {
    expect(parse(csvAt('sftp://drop/{day}', { sftp: account })).literalSecrets).toContain(
      'source.sftp.password',
    );
  });
});

describe('the settings of buckets', () => {
  it('are all optional', () => {
    expect(parse({ archive: 's3://bucket' }).s3).toEqual({});
    expect(parse({ archive: 's3://bucket' }).archive).toEqual({ kind: 's3', bucket: 'bucket', key: '' });
  });

  it('come from the variables of Amazon', () => {
    const env = {
      ...{ AWS_REGION: 'eu-1', AWS_ENDPOINT_URL: 'https://other.example.com' },
      ...{ AWS_ENDPOINT_URL_S3: 'https://s3.example.com' },
      ...{ AWS_ACCESS_KEY_ID: 'i', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't' },
    };
    expect(parse({}, env).s3).toEqual({
      ...{ region: 'eu-1', endpoint: 'https://s3.example.com' },
      ...{ accessKeyId: 'i', secretAccessKey: 's', sessionToken: 't' },
    });
  });

  it.each([
    ['http://s3.example.com', /must begin with https/],
    ['s3.example.com', /is not a URL/],
    ['ftp://s3.example.com', /must begin with https/],
    ['https://id:hush-canary@s3.example.com', /must not contain a user name/],
    ['https://s3.example.com/bucket', /must end with the host/],
    ['https://s3.example.com?x=hush-canary', /must end with the host/],
  ])('refuse the endpoint %s', (endpoint, words) => {
    const problems = complain({}, { AWS_ENDPOINT_URL_S3: endpoint });
    expect(problems).toEqual([expect.stringMatching(words)]);
    expect(problems.join()).not.toContain('hush-canary');
  });

  it.each([
    'https://s3.example.com',
    'https://s3.example.com:9000/',
    'http://127.0.0.1:9000',
    'http://[::1]:9000',
  ])('accept the endpoint %s', (endpoint) => {
    expect(parse({}, { AWS_ENDPOINT_URL_S3: endpoint }).s3.endpoint).toBe(endpoint);
  });

  it.each([
    's3://',
    's3://Bucket',
    's3://b',
    's3://id:hush@bucket',
    's3://bucket?x=hush',
    's3://bucket/../x',
  ])('refuse the archive %s', (archive) => {
    expect(complain({ archive })).toEqual([expect.stringMatching(/^archive: expected a folder or s3:/)]);
    expect(complain({ archive }).join()).not.toContain('hush');
  });
});
