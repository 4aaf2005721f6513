import { existsSync, readFileSync, statSync } from 'node:fs';
import { copyFile, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { afterAll, beforeAll } from 'vitest';
import { serviceFields } from '../../../src/booking/booking.js';
import { createSqlSource } from '../../../src/sources/sql/sql-source.js';
import { describeSourceContract, type IntendedRecord, type SourceDriver } from '../../contracts/source.js';
import { onceForRows, rowsOfDays, rowsWithOtherDays } from './day-table.js';

/** The system's count of what this process has read. */
const io = '/proc/self/io';

const makeFolder = async () => realpath(await mkdtemp(join(tmpdir(), 'sqlite-contract-')));

let originals: string;
beforeAll(async () => {
  originals = await makeFolder();
});
afterAll(() => rm(originals, { recursive: true }));

let tables = 0;
/** A file with these rows; each check gets a copy. */
const makeTable = onceForRows(async (rows) => {
  tables += 1;
  const path = join(originals, `${tables}.db`);
  const database = new Libsql(path);
  database.exec(
    `CREATE TABLE bookings (place INTEGER PRIMARY KEY, booked_on, ${serviceFields.join(', ')}); BEGIN`,
  );
  const insert = database.prepare(`INSERT INTO bookings VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)`);
  for (const { bookedOn, cells } of rows) insert.run([bookedOn, ...cells]);
  database.exec('COMMIT');
  database.close();
  return path;
});

function createSqliteDriver(journal: 'delete' | 'wal'): SourceDriver {
  let root = '';
  async function prepare(
    records: readonly IntendedRecord[],
    isBroken: boolean,
    tableRows = rowsWithOtherDays(records),
  ) {
    root = await makeFolder();
    const path = join(root, 'bookings ä?.db');
    await copyFile(await makeTable(tableRows), path);
    const database = new Libsql(path);
    // Some of the rows are in the write-ahead log, if there is one.
    database.exec(
      `PRAGMA journal_mode = ${journal}; UPDATE bookings SET booked_on = booked_on WHERE place % 9 = 0`,
    );
    database.close();
    const broken = isBroken ? 'abs(place - 40000 - 9223372036854775807 - 1)' : '1';
    const { size } = statSync(path);
    return {
      source: createSqlSource({
        url: `sqlite:${path}`,
        query: `SELECT *, CASE WHEN place = 40000 THEN ${broken} END AS broken
          FROM bookings WHERE booked_on = :day ORDER BY place`,
      }),
      places: records.map((_, index) => index + 1),
      ...(existsSync(io) ? { taken: () => countRead() / size } : {}),
      held: () => (isLocked(path) ? 1 : 0),
    };
  }
  return {
    prepare: (records) => prepare(records, false),
    prepareBroken: (records) => prepare(records, true),
    prepareDays: (days) => prepare([], false, rowsOfDays(days)),
    dispose: () => rm(root, { recursive: true, force: true }),
  };
}

function countRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync(io, 'utf8'))?.[1]);
}

/** Whether a reader's snapshot blocks writers, or the checkpoint of the log. */
function isLocked(path: string): boolean {
  const other = new Libsql(path);
  try {
    other.exec(`PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE;
      CREATE TABLE IF NOT EXISTS elsewhere (a); INSERT INTO elsewhere VALUES (1); COMMIT`);
    const checkpoint: unknown = other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    return (
      typeof checkpoint === 'object' && checkpoint !== null && 'busy' in checkpoint && checkpoint.busy !== 0
    );
  } catch {
    return true;
  } finally {
    other.close();
  }
}

describeSourceContract('sqlite', () => createSqliteDriver('delete'));
describeSourceContract('sqlite with a write-ahead log', () => createSqliteDriver('wal'), {
  among: /releases its resources|breaks/,
});
