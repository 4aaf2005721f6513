// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultStatusCodes } from '../../src/service/call-result.js';
import { hookSecret } from '../support/hook-secrets.js';
import { makeTemporaryFolder } from '../support/temporary-folder.js';
import { hostKey, parse, parseText, service, sftp, source, writeSettings } from './writing.js';

describe('a configuration', () => {
  // The defaults themselves are in schema/1.json.
  it('needs only the service and the source: everything else has a default, and paths are of its folder', () => {
    expect(parse()).toMatchObject({
      folder: '/etc/agency',
      service: { ...service, statusCodes: defaultStatusCodes },
      source: { kind: 'csv', path: '/etc/agency/bookings-{day}.csv', delimiter: ',', skipRows: 0 },
      body: { batchSize: 500, concurrency: 8, timeoutSeconds: 30 },
      file: { resultTimeoutMinutes: 360, spool: '/etc/agency/data/spool' },
      ledger: { kind: 'sqlite', path: '/etc/agency/data/ledger.db' },
      queue: { kind: 'in-process' },
      archive: { kind: 'directory', path: '/etc/agency/data/archive' },
      ...{ hook: {}, mappings: {}, notify: [], proxy: {}, s3: {} },
      literalSecrets: ['service.apiKey'],
    });
  });

  it('completes the SFTP server if there is one', () => {
    expect(parse({ delivery: 'file', file: { sftp } }).file.sftp).toEqual({
      ...sftp,
      port: 22,
      root: '/',
    });
  });

  it('has the timeout of the service for batches, too, unless it sets another', () => {
    const slow = { ...service, timeoutSeconds: 12 };
    expect(parse({ service: slow }).body.timeoutSeconds).toBe(12);
    expect(parse({ service: slow, body: { timeoutSeconds: 90 } }).body.timeoutSeconds).toBe(90);
  });

  it('overrides the default codes with its own', () => {
    const { statusCodes } = parse({
      service: { ...service, statusCodes: { 2009: 'fatal', 2999: 'retryable' } },
    }).service;
    expect(statusCodes).toEqual({ ...defaultStatusCodes, 2009: 'fatal', 2999: 'retryable' });
  });

  it('accepts formats of dates that read back what they write', () => {
    for (const dateFormat of ['yyyyMMdd', "dd 'de' MM yyyy", 'd MMM yyyy'])
      expect(parse({ source: { ...source, dateFormat } }).source.dateFormat).toBe(dateFormat);
  });
});

describe('a source', () => {
  const common = {
    ...{ columns: {}, dateFormat: 'yyyy-MM-dd', instants: 'auto', where: {}, keep: {} },
    ...{ maxRepeatedShare: 0.5, missing: [] },
  };
  const hosted = 'postgres://db.example.com/hotel';

  it.each([
    [
      { kind: 'ndjson', path: 'b-{day}.ndjson.gz', columns: { BookingClientName: 'guest.name' } },
      { path: '/etc/agency/b-{day}.ndjson.gz', encoding: 'utf-8' },
    ],
    [
      { kind: 'http', url: 'https://pms.example.com/bookings?day={day}' },
      { records: '', pagination: { kind: 'none' }, timeoutSeconds: 60 },
    ],
    [
      { kind: 'module', path: './bookings.mjs', options: { hotels: ['Ritz'], deep: { er: 1 } } },
      { path: '/etc/agency/bookings.mjs' },
    ],
    [
      { kind: 'sql', query: 'SELECT :day', url: `${hosted}?sslrootcert=ca.pem` },
      { url: `${hosted}?sslrootcert=%2Fetc%2Fagency%2Fca.pem&sslmode=verify-full`, timeoutSeconds: 600 },
    ],
    [
      { kind: 'csv', path: 's3://bucket/{day}.csv.gz' },
      { encoding: 'utf-8', delimiter: ',', skipRows: 0 },
    ],
    [
      {
        ...{ kind: 'csv', path: 'sftp://drop/{day:yyyy/MM}/{day}.csv', encoding: 'utf-8' },
        ...{ delimiter: ';', skipRows: 1, sftp: { username: 'u', privateKeyFile: 'keys/drop', hostKey } },
      },
      { sftp: { username: 'u', privateKeyFile: '/etc/agency/keys/drop', hostKey } },
    ],
  ])('such as %j is completed', (written, completed) => {
    expect(parse({ source: written }).source).toEqual({ ...common, ...written, ...completed });
  });

  it.each([
    [{ kind: 'page', parameter: 'page' }],
    [{ kind: 'offset', parameter: 'skip' }],
    [{ kind: 'cursor', parameter: 'after', field: 'meta.next' }],
    [{ kind: 'cursor', field: '@odata.nextLink' }],
    [{ kind: 'link' }],
  ])('may have pages by %j', (pagination) => {
    const url = 'https://pms.example.com/{day}';
    expect(parse({ source: { kind: 'http', url, pagination } }).source).toMatchObject({ pagination });
  });

  it('may have its query in a file', () => {
    const file = join(makeTemporaryFolder(), 'bookings.sql');
    writeFileSync(file, '\ufeffSELECT *\nFROM b WHERE d = :day\n');
    const read = parse({ source: { kind: 'sql', url: 'mysql://localhost/h', query: `\${file:${file}}` } });
    expect(read.source).toMatchObject({ query: 'SELECT *\nFROM b WHERE d = :day' });
  });
});

describe('buckets', () => {
  it('have their settings from the variables of Amazon, all optional', () => {
    const env = {
      ...{ AWS_REGION: 'eu-1', AWS_ENDPOINT_URL: 'https://other.example.com' },
      ...{ AWS_ENDPOINT_URL_S3: 'https://s3.example.com' },
      ...{ AWS_ACCESS_KEY_ID: 'i', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't' },
    };
    expect(parse({}, env).s3).toEqual({
      ...{ region: 'eu-1', endpoint: 'https://s3.example.com' },
      ...{ accessKeyId: 'i', secretAccessKey: 's', sessionToken: 't' },
    });
    const fallback = { AWS_DEFAULT_REGION: 'eu-2' };
    expect(parse({}, fallback).s3).toEqual({ region: 'eu-2' });
    expect(parse({}, { ...fallback, AWS_REGION: '' }).s3.region).toBe('eu-2');
    expect(parse({}, { ...fallback, AWS_REGION: 'eu-1' }).s3.region).toBe('eu-1');
    for (const endpoint of ['https://s3.example.com:9000/', 'http://127.0.0.1:9000', 'http://[::1]:9000'])
      expect(parse({}, { AWS_ENDPOINT_URL_S3: endpoint }).s3.endpoint).toBe(endpoint);
  });
});

describe('a path', () => {
  it('is relative to the configuration file, not to the working directory', () => {
    const config = parse({
      source: { kind: 'csv', path: '../exports/{day:yyyy/MM}/{day}.csv' },
      file: { spool: 's', sftp: { ...sftp, privateKeyFile: 'keys/id_ed25519' } },
      ledger: 'sqlite:ledger.db',
      archive: 'evidence',
      ...{ keys: 'k', hashKey: 'a key of the tests', server: { users: 'u' } },
      ...{ verdicts: { maildir: 'm' }, mappings: { newHotels: 'n' } },
    });
    const resolved = [config.keys, config.server.users, config.verdicts.maildir, config.mappings.newHotels];
    expect(resolved).toEqual(['k', 'u', 'm', 'n'].map((name) => `/etc/agency/${name}`));
    expect(config.source).toMatchObject({ path: '/etc/exports/{day:yyyy/MM}/{day}.csv' });
    expect(config.file).toMatchObject({
      spool: '/etc/agency/s',
      sftp: { privateKeyFile: '/etc/agency/keys/id_ed25519' },
    });
    expect(config.ledger).toEqual({ kind: 'sqlite', path: '/etc/agency/ledger.db' });
    expect(config.archive).toEqual({ kind: 'directory', path: '/etc/agency/evidence' });
    expect(parse({ ledger: 'sqlite:///var/ledger.db' }).ledger).toMatchObject({ path: '/var/ledger.db' });
  });
});

describe('a part is chosen by its URL, or by a group with it', () => {
  const url = 'postgres://u:p@db.example.com/hotel';
  const authority = 'sslrootcert=%2Fetc%2Fagency%2Fca.pem&sslmode=verify-full';
  const redis = 'redis://cache';

  it.each<[name: 'ledger' | 'queue' | 'archive', written: unknown, read: object]>([
    ...['postgres://localhost/review', 'postgresql://u:p@db:5432/review?sslmode=verify-full'].map(
      (url) => ['ledger', url, { kind: 'postgres', url }] as ['ledger', string, object],
    ),
    // An address may say itself how it is protected.
    ['ledger', `${url}?sslmode=disable`, { kind: 'postgres', url: `${url}?sslmode=disable` }],
    ['ledger', `${url}?sslmode=no-verify`, { kind: 'postgres', url: `${url}?sslmode=no-verify` }],
    ['ledger', `${url}?sslrootcert=ca.pem`, { kind: 'postgres', url: `${url}?${authority}` }],
    ['ledger', { url, ca: 'ca.pem' }, { kind: 'postgres', url: `${url}?${authority}` }],
    ['ledger', { url, plaintext: 'allowed' }, { kind: 'postgres', url }],
    ['queue', 'redis://localhost:6379', { kind: 'redis', url: 'redis://localhost:6379' }],
    ['queue', 'rediss://:p@cache/1', { kind: 'redis', url: 'rediss://:p@cache/1' }],
    ['queue', { url: redis, ca: 'ca.pem' }, { kind: 'redis', url: redis, ca: '/etc/agency/ca.pem' }],
    ['queue', { url: redis, plaintext: 'allowed' }, { kind: 'redis', url: redis }],
    ['archive', 's3://bucket/reviews', { kind: 's3', bucket: 'bucket', key: 'reviews' }],
  ])('the %s by %j', (name, written, read) => {
    expect(parse({ [name]: written })[name]).toEqual(read);
  });
});

describe('literal secrets', () => {
  it('are listed by setting, including passwords in URLs', () => {
    const config = parse(
      {
        file: { sftp },
        hook: { secret: hookSecret },
        server: { metricsToken: '${SECOND}' },
        source: { kind: 'http', url: 'https://h/{day}?token=abc', headers: { 'X-Key': 'abc' } },
        ledger: 'postgres://u:p@db/review?sslmode=verify-full',
        queue: 'rediss://cache',
      },
      { SECOND: '3f8a1c0b7d2e9645aa01bc23' },
    );
    expect([...config.literalSecrets].sort()).toEqual([
      ...['file.sftp.password', 'hook.secret', 'ledger', 'service.apiKey', 'source.headers.X-Key'],
      'source.url',
    ]);
  });
});

it('a deadline is a time of day, quoted or not, and may differ by date', () => {
  expect(parseText(`${writeSettings()}deadline: 06:00\n`).deadline).toBe('06:00');
  expect(parse({ deadline: { at: 'none' } }).deadline).toEqual({ at: 'none', exceptions: {} });
  const written = 'deadline: { at: 06:00, exceptions: { 2026-12-25: none, 2026-12-26: "09:00" } }\n';
  expect(parseText(writeSettings() + written).deadline).toEqual({
    at: '06:00',
    exceptions: { '2026-12-25': 'none', '2026-12-26': '09:00' },
  });
});
