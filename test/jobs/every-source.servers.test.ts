import { describe, expect, it } from 'vitest';
import { inOrder } from '../support/expectations.js';
import { isNightly } from '../support/nightly.js';
import { useS3Server } from '../support/s3-server.js';
import { openSsh } from '../support/sftp-programs.js';
import { startForSuite, useMariadb, usePostgres } from '../support/use-servers.js';
import { makeDifficultDay } from './every-source/difficult-day.js';
import { type Outcome, type PlacedDay, reviewPlacedDay } from './every-source/review-day.js';
import {
  pagingStyles,
  placeBehindApi,
  placeCsv,
  placeCsvInGzip,
  placeInBucket,
  placeInMariadb,
  placeInModule,
  placeInPostgres,
  placeNdjson,
  placeOnSftpServer,
} from './every-source/sources.js';

const day = makeDifficultDay(1_000);
const { records } = day;
const server = startForSuite(openSsh);
/** Outside the nightly suite, one of them: the tests of that source cover how each pages. */
type PagingStyle = keyof typeof pagingStyles;

/** Reviewed by body and by file once, for all tests. */
let ofCsv: ReturnType<typeof reviewPlacedDay> | undefined;

async function reviewCsv() {
  ofCsv ??= placeCsv(records).then((placed) => reviewPlacedDay(placed, server()));
  return ofCsv;
}

/** Expects the same bookings, requests, uploaded file and ledger rows as from the CSV file. */
async function expectTheSame(placed: PlacedDay): Promise<void> {
  const expected = await reviewCsv();
  const reviewed = await reviewPlacedDay(placed, server());
  expectSameOutcome(reviewed.byBody, expected.byBody);
  expectSameOutcome(reviewed.byFile, expected.byFile);
}

function expectSameOutcome(outcome: Outcome, expected: Outcome): void {
  expect(outcome.counts).toEqual(expected.counts);
  expect(inOrder(outcome.hotels)).toEqual(inOrder(expected.hotels));
  expect(outcome.bodies).toEqual(expected.bodies);
  expect(outcome.file).toBe(expected.file);
  expect(outcome.rows).toEqual(expected.rows);
}

describe('a day with every kind of difficult record', () => {
  it('is reviewed as in design 4, by body and by file', async () => {
    const { byBody, byFile } = await reviewCsv();
    const { bookings, rejects, duplicates } = day;
    for (const { counts, rows, hotels } of [byBody, byFile]) {
      const accepted = bookings.length;
      expect(counts).toMatchObject({ read: 1_000, accepted, duplicates, rejected: 25, delivered: accepted });
      expect(rows.rejects).toMatchObject(rejects.map(({ record, reason }) => ({ place: record, reason })));
      // Dates: unreadable, in the wrong order, or instants that were converted.
      expect(rows.warnings).toHaveLength(4);
      expect(hotels.length).toBeGreaterThan(500);
    }
    expect(inOrder(byBody.hotels)).toEqual(inOrder(bookings));
    // Bookings that have all fields and none that reads as null go by file; the others are posted.
    const inFile = byFile.file?.split('\n').slice(1, -1) ?? [];
    expect(inFile.length).toBeGreaterThan(250);
    expect(inFile.length + byFile.hotels.length).toBe(bookings.length);
    expect(inFile[0]).toBe('9007199254740991,9007199254740993,Ann Smith,Hotelbeds,007,10122026,12122026');
    expect(byFile.counts.affected).toBeGreaterThan(25);
  });
});

describe('the same day gives the same ledger rows, requests and file', () => {
  it('from a CSV file in gzip', async () => expectTheSame(await placeCsvInGzip(records)));
  it('from a file of JSON lines', async () => expectTheSame(await placeNdjson(records)));
  it('from a file on an SFTP server', async () => expectTheSame(await placeOnSftpServer(records, server())));

  it.each(isNightly ? (Object.keys(pagingStyles) as PagingStyle[]) : (['by cursor'] as const))(
    'from an API that pages %s',
    async (style) => expectTheSame(await placeBehindApi(records, style)),
  );

  it.each(isNightly ? (['JavaScript', 'TypeScript'] as const) : (['TypeScript'] as const))(
    'from a module in %s',
    async (language) => expectTheSame(await placeInModule(records, language)),
  );

  describe('from a bucket', () => {
    const buckets = useS3Server();
    it('of an S3-compatible server', async () => expectTheSame(await placeInBucket(records, buckets())));
  });

  describe('from a table', () => {
    const postgres = usePostgres();
    it('of PostgreSQL', async () => expectTheSame(await placeInPostgres(records, postgres())));
  });

  describe('from a table', () => {
    const mariadb = useMariadb();
    it('of MariaDB', async () => expectTheSame(await placeInMariadb(records, mariadb())));
  });
});
