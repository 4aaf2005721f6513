import { describe, expect, it } from 'vitest';
import type { Examination } from '../../src/checks/examination/examine-day.js';
import type { Secrets } from '../../src/checks/setup/answers.js';
import type { InitOptions } from '../../src/checks/setup/options.js';
import { interviewSource } from '../../src/checks/setup/source-interview.js';
import type { AnsweredSource } from '../../src/checks/setup/source-trials.js';
import { createScriptedAsker } from './answering.js';

const failed: Examination = {
  kind: 'failed',
  location: 'db',
  day: '2026-11-20',
  reason: 'the database is down',
};
const found: Examination = {
  kind: 'examined',
  location: 'db',
  day: '2026-11-20',
  columns: new Map([['ServiceId', 'hotel_id']]),
  missing: [],
  unused: [],
  dates: { kind: 'no-column' },
  delimiter: undefined,
};
const ok = { part: 'source', verdict: 'ok', message: 'five of them' } as const;
const database = 'postgres://reader:geheim@db.test/hotel?sslmode=verify-full';
const query = 'SELECT * FROM bookings WHERE booked_on = :day';
const api = 'https://pms.test/bookings?day={day}';

/** Runs the interview with these answers; each trial of the source has the next of these results. */
async function hold(
  options: Partial<InitOptions>,
  script: Parameters<typeof createScriptedAsker>[0],
  {
    looks = [found],
    known = {},
    asksSecrets = true,
  }: { looks?: readonly Examination[]; known?: Secrets; asksSecrets?: boolean } = {},
) {
  const { asker, ...person } = createScriptedAsker(script);
  const tried: AnsweredSource[] = [];
  const held = await interviewSource({ yes: false, ...options }, 'Europe/Madrid', {
    asker,
    home: '/home/ada',
    asksSecrets,
    known: (name) => known[name],
    trials: {
      examine: async (answered) => {
        tried.push(answered);
        return looks[tried.length - 1] ?? found;
      },
      read: async () => [ok],
    },
  });
  return { ...held, ...person, tried };
}

describe('The questions about a source', () => {
  it('about a database ask for its address and the query', async () => {
    const held = await hold(
      {},
      {
        'are the bookings': 'sql',
        'Which database': 'postgres',
        'Its address': database,
        'The query': query,
      },
    );
    const secrets = { sourceUrl: database };
    expect(held.source).toEqual({ kind: 'sql', query: { kind: 'text', text: query } });
    expect(held.secrets).toEqual(secrets);
    expect(held.tried).toEqual([{ timezone: 'Europe/Madrid', source: held.source, secrets, day: undefined }]);
  });

  it('about a database accept a query file, and reject a query that names no day', async () => {
    const held = await hold(
      { kind: 'sql', url: 'postgres://reader@db.test/hotel?sslmode=verify-full' },
      { 'The query': ['SELECT 1', 'SELECT 1 WHERE 1 = :when', '~/day.sql'] },
    );
    expect(held.source).toMatchObject({ query: { kind: 'file', path: '/home/ada/day.sql' } });
    expect(held.refused).toHaveLength(2);
  });

  it('about a database only ask for the query if the environment has the address', async () => {
    const { asked, source, secrets } = await hold({ kind: 'sql' }, {}, { known: { sourceUrl: database } });
    expect(asked).toEqual([expect.stringContaining('The query')]);
    expect({ source, secrets }).toMatchObject({ source: { kind: 'sql' }, secrets: {} });
  });

  it('treat an address without a password on the command line as a secret', async () => {
    const url = 'postgres://reader@db.test/hotel?sslmode=verify-full';
    const { secrets, source, asked } = await hold({ kind: 'sql', url, query }, {});
    expect({ secrets, file: source }).toEqual({
      secrets: { sourceUrl: url },
      file: { kind: 'sql', query: { kind: 'text', text: query } },
    });
    expect(asked).toEqual([]);
  });

  it.each([
    ['none', {}, {}, { kind: 'none' }],
    ['bearer', { token: 't-1' }, { sourceToken: 't-1' }, { kind: 'bearer' }],
    [
      'header',
      { 'name of the header': ['a b', 'X-Key'], 'The key': 'k-1' },
      { sourceKey: 'k-1' },
      { kind: 'header', name: 'X-Key' },
    ],
    ['header', {}, {}, { kind: 'header', name: 'X-Api-Key' }],
  ])('about an API ask how it authenticates callers: %s', async (how, script, secrets, auth) => {
    const held = await hold(
      { kind: 'http' },
      {
        'address, with': ['https://pms.test', api],
        authenticate: how,
        ...script,
        'list of bookings': 'data',
      },
    );
    expect(held.source).toEqual({
      kind: 'http',
      url: api,
      auth,
      records: 'data',
      pagination: { kind: 'none' },
    });
    expect(held.secrets).toEqual(secrets);
  });

  it.each([
    ['page', {}, { parameter: 'page', first: 1 }],
    ['page', { 'page number': 'p', 'first page': '0' }, { parameter: 'p', first: 0 }],
    ['offset', {}, { parameter: 'offset' }],
    ['cursor', { 'what comes next': 'meta.next' }, { field: 'meta.next', parameter: undefined }],
    [
      'cursor',
      { 'what comes next': 'next', 'parameter for it': 'after' },
      { field: 'next', parameter: 'after' },
    ],
    ['link', {}, {}],
  ])('about an API ask for its pagination: %s with %j', async (kind, script, pagination) => {
    const { source } = await hold({ url: api, auth: 'none' }, { 'into pages': kind, ...script });
    expect(source).toMatchObject({ pagination: { kind, ...pagination } });
  });

  it('about files in a bucket ask for the server and the access key', async () => {
    const path = 's3://agency/in/{day}.csv';
    const script = {
      'S3 server': 'https://s3.test',
      region: 'eu-1',
      'id of the access key': 'id-1',
      'The secret': 'k-1',
    };
    const held = await hold({ kind: 'csv', path }, script);
    expect(held.source).toEqual({
      kind: 'csv',
      path,
      bucket: ['s3Endpoint', 's3Region', 's3KeyId', 's3Secret'],
    });
    expect(held.secrets).toEqual({
      ...{ s3Endpoint: 'https://s3.test', s3Region: 'eu-1', s3KeyId: 'id-1', s3Secret: 'k-1' },
    });
    const others = await hold({ kind: 'csv', path }, {});
    expect(others.source).toMatchObject({ bucket: [] });
  });

  it('about files on an SFTP server ask for the account', async () => {
    const path = 'sftp://drop.test/{day}.csv';
    const hostKey = `SHA256:${'b'.repeat(43)}`;
    const held = await hold(
      { kind: 'csv', path },
      { 'user name': 'ada', fingerprint: ['MD5:1', hostKey], 'The password': 'p-1' },
    );
    expect(held.source).toEqual({
      kind: 'csv',
      path,
      account: { username: 'ada', keyFile: undefined, hostKey },
    });
    expect(held.secrets).toEqual({ sourcePassword: 'p-1' });
    const byKey = await hold({ kind: 'csv', path }, { 'private key': '~/id' });
    expect(byKey.source).toMatchObject({ account: { keyFile: '/home/ada/id' } });
    expect(byKey.asked.join()).not.toContain('password for it');
  });

  it('about a module ask for its file', async () => {
    const { source } = await hold({}, { 'are the bookings': 'module' });
    expect(source).toEqual({ kind: 'module', path: 'bookings.mjs' });
    expect((await hold({ path: 'own.ts' }, {})).source).toEqual({ kind: 'module', path: 'own.ts' });
  });

  it('ask for no secret that the environment has', async () => {
    const known = { sourceToken: 't-1', s3KeyId: 'id-1', s3Secret: 'k-1' };
    const ofApi = await hold(
      { url: api, auth: 'bearer', records: 'data', pagination: 'none' },
      {},
      { known },
    );
    expect(ofApi.asked).toEqual([]);
    const path = 's3://agency/in/{day}.csv';
    const bucket = await hold({ kind: 'csv', path, s3Region: 'eu-1' }, {}, { known });
    expect(bucket.asked).toEqual(["The address of the S3 server (empty: Amazon's)"]);
    expect(bucket.source).toMatchObject({ bucket: ['s3Region', 's3KeyId', 's3Secret'] });
    expect([ofApi.secrets, bucket.secrets]).toEqual([{}, { s3Region: 'eu-1' }]);
  });

  it('ask for no secret if .env is kept', async () => {
    const { asked } = await hold({ url: api, auth: 'bearer' }, {}, { asksSecrets: false });
    expect(asked.join()).not.toContain('token');
  });
});

describe('A source that was tried', () => {
  it('is reported with what was read', async () => {
    const { reported, findings } = await hold(
      { kind: 'sql', url: 'postgres://reader@db.test/hotel?sslmode=verify-full', query },
      {},
    );
    expect(reported).toEqual([expect.stringContaining('1 of the 7 fields found'), 'five of them']);
    expect(findings).toEqual([ok]);
  });

  it('and failed is asked about again, with the previous answers as defaults, whatever the options say', async () => {
    const held = await hold(
      { kind: 'sql', query },
      { 'What now': 'again', 'Its address': 'postgres://reader:falsch@db.test/hotel?sslmode=verify-full' },
      { looks: [failed] },
    );
    expect(held.reported[0]).toBe('wrong: the database is down');
    expect(held.asked).toEqual([
      'Which database?',
      'Its address, postgres://USER:PASSWORD@HOST:5432/DATABASE (hidden; empty: later)',
      'What now?',
      'Where are the bookings?',
      'Which database?',
      'Its address, postgres://USER:PASSWORD@HOST:5432/DATABASE (hidden; empty: later)',
      expect.stringContaining('The query'),
    ]);
    expect(held.source).toEqual({ kind: 'sql', query: { kind: 'text', text: query } });
    expect(held.findings).toEqual([ok]);
  });

  it('may have an answer removed', async () => {
    const { source, asked } = await hold(
      { url: api, auth: 'none' },
      { 'What now': 'again', 'list of bookings': ['-', 'data'] },
      { looks: [failed] },
    );
    expect(source).toMatchObject({ records: undefined });
    const messages = asked.filter((message) => message.includes('list of bookings'));
    expect(messages.map((message) => message.includes('for none'))).toEqual([false, true]);
  });

  it('may be tried for another day', async () => {
    const held = await hold(
      { kind: 'module', path: 'b.mjs' },
      { 'What now': 'day', 'Which day': ['yesterday', '2026-11-18'] },
      { looks: [{ ...failed, kind: 'unusable' }] },
    );
    expect(held.tried.map(({ day }) => day)).toEqual([undefined, '2026-11-18']);
    expect(held.refused).toEqual(['expected a day as YYYY-MM-DD, got: yesterday']);
  });

  it('may be accepted as it is', async () => {
    const held = await hold({ kind: 'module', path: 'b.mjs' }, { 'What now': 'on' }, { looks: [failed] });
    expect(held.examination).toEqual(failed);
    expect(held.findings).toMatchObject([{ verdict: 'wrong', message: 'the database is down' }]);
  });
});
