import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/base/usage-error.js';
import { checkOptions, type InitOptions } from '../../src/checks/setup/options.js';

const check = (
  options: Partial<InitOptions>,
  { asks = false, database = undefined as string | undefined } = {},
) =>
  checkOptions(
    { yes: !asks, ...options },
    { asks, known: (name) => (name === 'sourceUrl' ? database : undefined) },
  );
const url = 'https://pms.example.com/bookings?day={day}';
const query = 'SELECT * FROM bookings WHERE booked_on = :day';

describe('An option of init', () => {
  it.each<[Partial<InitOptions>, string]>([
    [{ kind: 'csv', query }, '--query goes with --kind sql'],
    [{ kind: 'sql', path: 'b.csv' }, '--path goes with --kind csv, ndjson, or module'],
    [{ kind: 'module', url }, '--url goes with --kind sql or http'],
    [{ kind: 'sql', records: 'data' }, '--records goes with --kind http'],
    [{ url, path: 'b.csv' }, '--path goes with --kind csv, ndjson, or module'],
    [{ path: 'b.csv', s3Region: 'eu-1' }, '--s3-region goes with a --path of s3://…'],
    [{ s3Endpoint: 'https://s3.test' }, '--s3-endpoint goes with a --path of s3://…'],
    [
      { path: 's3://abc/{day}.csv', sourceSftpUsername: 'u' },
      '--source-sftp-username goes with a --path of sftp://…',
    ],
    [{ url, firstPage: '0' }, '--first-page goes with --pagination page'],
    [{ url, pagination: 'link', cursorField: 'next' }, '--cursor-field goes with --pagination cursor'],
    [{ url, auth: 'bearer', authName: 'u' }, '--auth-name goes with --auth header'],
    [{ query, queryFile: 'q.sql' }, '--query and --query-file exclude each other'],
    [{ delivery: 'body', sftpHost: 'h' }, '--sftp-host goes with --delivery file'],
  ])('%j is refused without the option that it goes with', (options, message) => {
    expect(() => check(options)).toThrow(UsageError);
    expect(() => check(options)).toThrow(message);
  });

  it.each<[Partial<InitOptions>, RegExp]>([
    [{ url: 'https://pms.example.com/bookings' }, /^--url: names no day/],
    [{ url: 'ftp://h/b' }, /^--url: expected postgres:/],
    [{ query: 'SELECT 1' }, /^--query: .*:day/],
    [{ query: `${query}; DROP TABLE bookings` }, /^--query: .*one statement/],
    [{ url, auth: 'header', authName: 'a b' }, /^--auth-name: expected the name of a header/],
    [{ path: 'sftp://u:p@h/{day}.csv' }, /^--path: expected a path, s3:/],
    [{ path: 's3://abc/{day}', s3Endpoint: 'http://s3.test' }, /^--s3-endpoint: must begin with https/],
    [
      { path: 'sftp://h/{day}', sourceSftpHostKey: 'MD5:1' },
      /^--source-sftp-host-key: expected a fingerprint/,
    ],
  ])('%j is checked as the configuration would check it', (options, message) => {
    expect(() => check(options)).toThrow(message);
  });

  it.each(['postgres://u:geheim@h/db', 'mysql://u@h/db?password=geheim'])(
    '--url is refused with a password, which is not quoted: %s',
    (address) => {
      let message = '';
      try {
        check({ kind: 'sql', url: address });
      } catch (error) {
        message = String(error);
      }
      expect(message).toContain('HOTEL_REVIEW_SOURCE_URL into the environment or into .env');
      expect(message).not.toContain('geheim');
    },
  );

  it('--url is refused with an API key', () => {
    expect(() => check({ url: `${url}&apikey=geheim` })).toThrow(/--url: .*--auth/);
  });

  it('--url of a database is refused if one in the environment takes precedence', () => {
    const database = 'postgres://u:geheim@h/db';
    expect(() => check({ url: 'postgres://u@h/db?sslmode=verify-full' }, { database })).toThrow(
      /HOTEL_REVIEW_SOURCE_URL is set/,
    );
    expect(() => check({ url, kind: 'http' }, { database })).not.toThrow();
  });

  it('--query is checked by the rules of the known database', () => {
    const ofMysql = "SELECT 'it\\'s' FROM bookings WHERE booked_on = :day";
    expect(() => check({ query: ofMysql })).toThrow(/--query/);
    expect(() => check({ query: ofMysql }, { database: 'mysql://u:p@h/db' })).not.toThrow();
    expect(() => check({ query: ofMysql, url: 'mysql://u@h/db?sslmode=verify-full' })).not.toThrow();
  });

  it('--cursor-field is required if nobody can be asked for it', () => {
    expect(() => check({ url, pagination: 'cursor' })).toThrow('--pagination cursor needs --cursor-field');
    expect(() => check({ url, pagination: 'cursor' }, { asks: true })).not.toThrow();
    expect(() => check({ url, pagination: 'cursor', cursorField: 'next' })).not.toThrow();
  });

  it.each<[Partial<InitOptions>]>([
    [{}],
    [{ path: 'exports/{day}.ndjson' }],
    [{ path: 'bookings.mjs' }],
    [{ path: 's3://abc/{day}.csv', s3Region: 'eu-1' }],
    [{ path: 'sftp://h/{day}.csv', sourceSftpUsername: 'u', sourceSftpHostKey: `SHA256:${'b'.repeat(43)}` }],
    [{ url: 'postgres://db.test/hotel?sslmode=verify-full', query }],
    [{ kind: 'sql' }],
    [{ url, auth: 'header', authName: 'X-Key', pagination: 'offset', records: 'data' }],
  ])('%j is accepted', (options) => {
    expect(() => check(options)).not.toThrow();
  });
});
