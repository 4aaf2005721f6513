// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { complain, parse } from './writing.js';

const query = 'SELECT * FROM bookings WHERE booked_on = :day';

const parseSource = (source: Readonly<Record<string, unknown>>, env: NodeJS.ProcessEnv = {}) =>
  parse({ source: { kind: 'sql', ...source } }, env);

/** The message for a source that is refused. */
const complaintOf = (source: Readonly<Record<string, unknown>>) =>
  complain({ source: { kind: 'sql', ...source } }).join('\n');

describe('the settings of a source in a database', () => {
  it('are complete with an address and a query', () => {
    expect(parseSource({ url: 'postgres://db.example.com/hotel?sslmode=verify-full', query }).source).toEqual(
      {
        kind: 'sql',
        url: 'postgres://db.example.com/hotel?sslmode=verify-full',
        query,
        columns: {},
        dateFormat: 'yyyy-MM-dd',
        instants: 'auto',
        where: {},
        keep: {},
        maxRepeatedShare: 0.5,
        missing: [],
        timeoutSeconds: 600,
      },
    );
  });

  it('take the query from a file, and its path and that of the authority relative to the configuration', () => {
    const folder = mkdtempSync(join(tmpdir(), 'query-'));
    writeFileSync(join(folder, 'bookings.sql'), '\ufeffSELECT *\nFROM b WHERE d = :day\n');
    const { source } = parseSource({
      url: 'postgres://db.example.com/hotel?sslrootcert=ca.pem',
      query: `\${file:${folder}/bookings.sql}`,
    });
    expect(source).toMatchObject({
      url: 'postgres://db.example.com/hotel?sslrootcert=%2Fetc%2Fagency%2Fca.pem&sslmode=verify-full',
      query: 'SELECT *\nFROM b WHERE d = :day',
    });
  });

  it('say what is wrong with the query', () => {
    const url = 'mysql://db.example.com/hotel?sslmode=verify-full';
    expect(complaintOf({ url })).toBe('source.query: expected a query, got: nothing');
    expect(complaintOf({ url, query: 'SELECT 1' })).toContain(
      'source.query: the query has none of :day, :dayStart and :dayEnd',
    );
    expect(complaintOf({ url, query: 'SELECT :tag, :day' })).toContain('the query has :tag; only :day');
    expect(complaintOf({ url, query: 'SELECT :day; DROP TABLE bookings' })).toContain(
      'more than one statement',
    );
    expect(complaintOf({ url, query: 'SELECT :day, ?' })).toContain('the placeholder ?');
  });

  it('never show an invalid address: the mistake may be in its password', () => {
    const complaint = complaintOf({ url: 'oracle://ann:s3cret@db/hotel', query });
    expect(complaint).toContain('expected postgres://…, mysql://… or mariadb://…');
    expect(complaint).not.toContain('s3cret');
  });

  it.each([
    [
      'mysql://ann:s3cret@db/hotel?ssl=true',
      'the address has an unknown parameter; only sslmode and socket are known',
    ],
    ['mysql://ann:s3cret@db/hotel?sslmode=on', 'sslmode in the address must be disable, no-verify, require'],
    ['mysql://ann:s3cret%@db/hotel', 'a % in the address is not followed by two hexadecimal digits'],
    ['postgres://ann:p@s3cret/x@db/hotel', 'the address has an @ after the host'],
    ['postgres://ann:s3cret/x@db/hotel', 'in a user or a password are written %40'],
  ])('say what is wrong with the address %s, without quoting it', (url, words) => {
    const complaint = complaintOf({ url, query });
    expect(complaint).toContain(`source.url: `);
    expect(complaint).toContain(words);
    expect(complaint).not.toMatch(/ann|s3cret/);
  });

  it('report a password in the file as literal, but none from the environment', () => {
    const { literalSecrets } = parseSource({ url: 'mysql://ann:s3cret@db/hotel?sslmode=verify-full', query });
    expect(literalSecrets).toContain('source.url');
    const url = '${BOOKINGS_URL}';
    const fromEnvironment = parseSource(
      { url, query },
      { BOOKINGS_URL: 'mysql://ann:s3cret@db/hotel?sslmode=verify-full' },
    );
    expect(fromEnvironment.literalSecrets).not.toContain('source.url');
    expect(parseSource({ url: 'mysql://db/hotel?sslmode=verify-full', query }).literalSecrets).not.toContain(
      'source.url',
    );
  });
});
