// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Examination } from '../../src/checks/examination/examine-day.js';
import { checkAnswer, renderSecrets, type Secrets } from '../../src/checks/setup/answers.js';
import { renderConfiguration } from '../../src/checks/setup/configuration-text.js';
import type { Config } from '../../src/config/load.js';
import { parseConfig } from '../../src/config/parse.js';
import { hasPlaceholders, listPlaceholders } from '../../src/config/placeholders.js';
import type { HttpAnswers } from '../../src/sources/http/setup.js';
import { answer, type SourceAnswers } from './answering.js';

const noFile: Examination = { kind: 'no-file' };
const database = 'mysql://reader:s3cret@db.test/hotel?sslmode=verify-full';
const query = 'SELECT * FROM bookings\nWHERE booked_on = :day\nORDER BY id';

function write(source: SourceAnswers, secrets: Secrets = {}, examination = noFile) {
  const answers = answer({ source, secrets, baseUrl: 'https://maps.test/api/3.0' });
  const text = renderConfiguration({ answers, examination, schema: './schema.json' });
  const env = parseEnv(renderSecrets(answers));
  return { text, config: parseConfig({ text, file: '/agency/hotel-review.yaml', env }) };
}

const api = (some: Partial<HttpAnswers>): HttpAnswers => ({
  kind: 'http',
  url: 'https://pms.test/bookings?day={day}',
  auth: { kind: 'none' },
  records: undefined,
  pagination: { kind: 'none' },
  ...some,
});
const ofSource = (config: Config) => listPlaceholders(config).filter((path) => !path.startsWith('service.'));

const http = { source: { kind: 'http', pagination: { kind: 'cursor' } } };
const parameterRule = {
  name: 'pageParameter',
  setting: ['source', 'pagination', 'parameter'],
  beside: http,
} as const;

describe('A source is written', () => {
  it('for a database server without its address, and with a query of several lines unchanged', () => {
    const { text, config } = write(
      { kind: 'sql', query: { kind: 'text', text: query } },
      { sourceUrl: database },
    );
    expect(config.source).toMatchObject({ kind: 'sql', url: database, query });
    expect(text).toContain(
      '  query: |-\n    SELECT * FROM bookings\n    WHERE booked_on = :day\n    ORDER BY id\n',
    );
    expect(text).not.toMatch(/s3cret|db\.test/);
    expect(config.literalSecrets).toEqual([]);
    expect(ofSource(config)).toEqual([]);
  });

  it('for a database with a query file', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'query-')), 'q.sql');
    writeFileSync(file, query);
    const answers = { kind: 'sql', query: { kind: 'file', path: file } } as const;
    const { config, text } = write(answers, { sourceUrl: database });
    expect(config.source).toMatchObject({ url: database, query });
    expect(text).toContain(`query: "\${file:${file}}"`);
  });

  it.each<[Partial<HttpAnswers>, Secrets, object]>([
    [{ auth: { kind: 'bearer' } }, { sourceToken: 't-1' }, { headers: { Authorization: 'Bearer t-1' } }],
    [{ auth: { kind: 'header', name: 'X.Key' } }, { sourceKey: 'k-1' }, { headers: { 'X.Key': 'k-1' } }],
    [{ records: 'data.bookings' }, {}, { records: 'data.bookings', pagination: { kind: 'none' } }],
    [{ pagination: { kind: 'link' } }, {}, { pagination: { kind: 'link' } }],
    [
      { pagination: { kind: 'page', parameter: 'p', first: 0 } },
      {},
      { pagination: { kind: 'page', parameter: 'p', first: 0 } },
    ],
    [
      { pagination: { kind: 'offset', parameter: 'skip' } },
      {},
      { pagination: { kind: 'offset', parameter: 'skip' } },
    ],
    [
      { pagination: { kind: 'cursor', field: '@odata.nextLink', parameter: undefined } },
      {},
      { pagination: { kind: 'cursor', field: '@odata.nextLink' } },
    ],
    [
      { pagination: { kind: 'cursor', field: 'meta.next', parameter: 'after' } },
      {},
      { pagination: { kind: 'cursor', field: 'meta.next', parameter: 'after' } },
    ],
  ])('for an API with %j, and its secrets elsewhere', (some, secrets, expected) => {
    const { text, config } = write(api(some), secrets);
    expect(config.source).toMatchObject({ url: 'https://pms.test/bookings?day={day}', ...expected });
    for (const secret of Object.values(secrets)) expect(text).not.toContain(secret);
    expect(config.literalSecrets).toEqual([]);
    expect(ofSource(config)).toEqual([]);
  });

  it("for files in a bucket, whose server and access key are in Amazon's own variables", () => {
    const path = 's3://agency/in/{day}.csv';
    const known = { s3Endpoint: 'https://s3.test', s3Region: 'eu-1', s3KeyId: 'id-1', s3Secret: 'k-1' };
    const names = ['s3Endpoint', 's3Region', 's3KeyId', 's3Secret'] as const;
    const { text, config } = write({ kind: 'csv', path, bucket: names }, known);
    expect(config).toMatchObject({
      source: { path },
      s3: { endpoint: 'https://s3.test', region: 'eu-1', accessKeyId: 'id-1', secretAccessKey: 'k-1' },
    });
    expect(text).not.toMatch(/id-1|k-1|s3\.test/);
    expect(write({ kind: 'csv', path, bucket: [] }).config.s3).toEqual({});
  });

  it('for files on an SFTP server with the account', () => {
    const hostKey = `SHA256:${'b'.repeat(43)}`;
    const path = 'sftp://drop.test/out/{day}.csv';
    const byKey = write({ kind: 'csv', path, account: { username: 'ada', keyFile: 'id', hostKey } });
    expect(byKey.config.source).toMatchObject({
      path,
      sftp: { username: 'ada', privateKeyFile: '/agency/id', hostKey },
    });
    const byPassword = write(
      { kind: 'ndjson', path, account: { username: 'ada', keyFile: undefined, hostKey } },
      { sourcePassword: 'p-1' },
    );
    expect(byPassword.config.source).toMatchObject({ sftp: { password: 'p-1' } });
    expect(byPassword.text).not.toContain('p-1');
  });

  it('for a module with its path', () => {
    const { text, config } = write({ kind: 'module', path: 'bookings.mjs' });
    expect(config.source).toMatchObject({ path: '/agency/bookings.mjs', options: {} });
    expect(text).toContain('  # The file that exports `bookings`.\n  path: bookings.mjs');
  });
});

describe('What was left open about a source', () => {
  it.each<[SourceAnswers, readonly string[]]>([
    [{ kind: 'sql', query: undefined }, ['source.url', 'source.query']],
    [api({ url: undefined, auth: { kind: 'bearer' } }), ['source.url', 'source.headers.Authorization']],
    [api({ auth: { kind: 'header', name: 'X-Key' } }), ['source.headers.X-Key']],
    [
      {
        kind: 'csv',
        path: 'sftp://h/{day}',
        account: { username: undefined, keyFile: undefined, hostKey: undefined },
      },
      ['source.sftp.username', 'source.sftp.password', 'source.sftp.hostKey'],
    ],
    [
      {
        kind: 'csv',
        path: 's3://abc/{day}',
        bucket: ['s3KeyId', 's3Secret'],
      },
      ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
    ],
    [{ kind: 'module', path: 'b.mjs' }, []],
  ])('loads as a placeholder, and is listed as one: %j', (source, placeholders) => {
    const { text, config } = write(source);
    expect(ofSource(config)).toEqual(placeholders);
    const inConfiguration = placeholders.filter((path) => /query|username|hostKey/.test(path));
    if (inConfiguration.length > 0) expect(hasPlaceholders(text)).toBe(true);
  });
});

describe('The result of examining a day', () => {
  it('is written in one comment if it failed', () => {
    const reason = 'it is odd\nsource: {kind: csv}\r\ndelivery: file';
    const { text, config } = write(api({}), {}, { kind: 'failed', location: 'x', day: '2026-11-20', reason });
    expect(text).toContain('# Tried for 2026-11-20 when this was written: it is odd');
    expect(config).toMatchObject({ source: { kind: 'http' }, delivery: 'body' });
  });
});

describe('Any answer about a database or an API', () => {
  const odd = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.string({ minLength: 1, unit: 'binary' }),
    fc.constantFrom('null', '~', '1e3', '- a', '#x', 'a #b', '"', "'", '${X}', '*a', '!b', 'a: b', '|', '>'),
  );

  it('is kept unchanged as a query', () => {
    const literal = fc.array(
      fc.constantFrom('\n', '\r\n', '\t', ' ', '  ', 'a', '#', ': ', '- ', '${X}', '"', '\\', 'é'),
    );
    fc.assert(
      fc.property(literal, fc.constantFrom('', '\n', '\n\n', ' ', '\t'), (parts, end) => {
        const text = `SELECT '${parts.join('')}' FROM b WHERE d = :day${end}`;
        // By its rules, a backslash escapes nothing.
        const sourceUrl = 'postgres://reader@db.test/hotel?sslmode=verify-full';
        const { config } = write({ kind: 'sql', query: { kind: 'text', text } }, { sourceUrl });
        expect(config.source).toMatchObject({ query: text.trim() });
      }),
      { numRuns: 150 },
    );
  });

  it('is kept unchanged as a setting', () => {
    const parameter = odd.filter((text) => checkAnswer(parameterRule, text) === undefined);
    fc.assert(
      fc.property(parameter, parameter, odd, (field, name, records) => {
        const source = api({
          records,
          pagination: { kind: 'cursor', field, parameter: name },
        });
        const { config } = write(source);
        expect(config.source).toMatchObject({
          records,
          pagination: { kind: 'cursor', field, parameter: name },
        });
      }),
      { numRuns: 100 },
    );
  });
});
