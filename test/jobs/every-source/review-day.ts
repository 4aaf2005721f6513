import { readFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { S3Access } from '../../../src/s3/aws-bucket.js';
import type { ClosingReport } from '../../support/command.js';
import { prepareDay, type Settings } from '../../support/day-folder.js';
import { expectReport } from '../../support/expectations.js';
import { prepareFileDay, remotePath } from '../../support/file-day.js';
import { type ReceivedHotel, type StandIn, success } from '../../support/http-stand-in.js';
import { openSqliteTables } from '../../support/ledger-watch.js';
import { writeVariables } from '../../support/s3-server.js';
import type { RunningSftpServer } from '../../support/sftp-server.js';

/** The outcome of a day, independent of its source. */
export interface Outcome {
  readonly counts: ClosingReport['counts'];
  /** The bodies of all requests, sorted, as several are in flight at the same time. */
  readonly bodies: readonly string[];
  readonly hotels: readonly ReceivedHotel[];
  readonly rows: KeptRows;
  /** The uploaded file; undefined for delivery by body. */
  readonly file: string | undefined;
}

/** Reviews the day with the command, as a user does, by body and by file. */
export async function reviewPlacedDay(placed: PlacedDay, server: RunningSftpServer) {
  const [byBody, byFile] = await Promise.all([reviewByBody(placed), reviewByFile(placed, server)]);
  return { byBody, byFile };
}

async function reviewByBody(placed: PlacedDay): Promise<Outcome> {
  const { folder, standIn } = await prepareDay({ settings: placed.settings });
  if (placed.account) writeVariables(folder.path, placed.account);
  const result = await folder.runDay();
  expectReport(result, { exitCode: 0, state: 'succeeded' });
  return {
    counts: result.report.counts,
    ...readRequests(standIn),
    rows: await readKeptRows(folder.ledgerFile, placed),
    file: undefined,
  };
}

async function reviewByFile(placed: PlacedDay, server: RunningSftpServer): Promise<Outcome> {
  const { folder, standIn } = await prepareFileDay(server, {
    // Most of these records can't be in the file.
    settings: { ...placed.settings, file: { maxPostedShare: 1 }, maxAffectedShare: 1 },
    async onCall(call) {
      await call.writeResult({ affected: call.renderResult().match(/90071992547\d+5(?=,)/g) ?? [] });
      return success;
    },
  });
  if (placed.account) writeVariables(folder.path, placed.account);
  const result = await folder.runDay();
  expectReport(result, { exitCode: 0, state: 'succeeded' });
  return {
    counts: result.report.counts,
    ...readRequests(standIn),
    rows: await readKeptRows(folder.ledgerFile, placed),
    file: readFileSync(server.disk(remotePath), 'utf8'),
  };
}

function readRequests(standIn: StandIn) {
  const posts = standIn.requests.filter(({ method }) => method === 'POST');
  return { bodies: posts.map(({ body }) => body.toString()).sort(), hotels: standIn.accepted() };
}

/** A day that was put where its source reads it. */
export interface PlacedDay {
  /** Its configuration. */
  readonly settings: Settings;
  /** Of a bucket. */
  readonly account?: S3Access;
  /** The record, counted from 0, that the source means by a place (a line, a row); -1 when there is none. */
  recordAt(place: number): number;
}

/** Removes `file`, which the default settings contain, for sources that have no file. */
export const noFile = { path: undefined };

/** For sources that number records from 1. */
export const byNumber = (place: number) => place - 1;

/** Removed after the test. */
export async function makeFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'every-source-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

type Row = Readonly<Record<string, unknown>>;
export type KeptRows = Readonly<Record<string, readonly Row[]>>;

/** Who reviewed the day, from where, and when: not part of the day itself. */
const runSpecific: readonly string[] = [
  'id',
  'source',
  'started_at',
  'collect_started_at',
  'collected_at',
  'claimed_at',
  'ended_at',
  'finished_at',
  'lease_until',
];
const fileSpecific: readonly string[] = ['modifiedAt', 'triggeredAt', 'archivedTo'];
const places: readonly string[] = ['place', 'first_place'];

/**
 * All rows of the tables that a run fills, without what is specific to the run. Places, which sources count in their
 * own ways (lines or rows), are translated to the index of the record, counted from 0.
 */
export async function readKeptRows(ledgerFile: string, placed: PlacedDay): Promise<KeptRows> {
  const tables = openSqliteTables(ledgerFile);
  try {
    const names = await tables.rows(
      `SELECT name FROM sqlite_schema WHERE name = 'runs' OR type = 'table' AND sql LIKE '%REFERENCES runs%' ORDER BY name`,
    );
    const kept: Record<string, readonly Row[]> = {};
    for (const { name } of names) {
      const columns = await tables.rows(`SELECT name FROM pragma_table_info('${name}') LIMIT 3`);
      const order = columns.map((column) => column.name).join(', ');
      const rows = await tables.rows(`SELECT * FROM ${name} ORDER BY ${order}`);
      kept[String(name)] = rows.map((row) => withoutTheRun(row, placed));
    }
    return kept;
  } finally {
    await tables.close();
  }
}

function withoutTheRun(row: Row, { recordAt }: PlacedDay): Row {
  const columns = Object.entries(row).filter(([name]) => !runSpecific.includes(name));
  return Object.fromEntries(
    columns.map(([name, value]) => [
      name,
      places.includes(name) ? recordAt(Number(value)) : showCell(name, value),
    ]),
  );
}

/** Bytes as text, which compares far faster. */
function showCell(name: string, cell: unknown): unknown {
  if (name === 'held' && typeof cell === 'string') return showHeld(JSON.parse(cell));
  if (Buffer.isBuffer(cell)) return cell.toString(name === 'lines' ? 'utf8' : 'base64');
  return name === 'file' && typeof cell === 'string' ? readFile(cell) : cell;
}

function readFile(json: string): unknown {
  return JSON.parse(json, (name, value: unknown) => (fileSpecific.includes(name) ? undefined : value));
}

/** Sources with JSON numbers round large ones, and such values are not kept. */
function showHeld({ reference, value, cells }: Readonly<Record<string, string | undefined>>) {
  const isExact = value !== undefined && !(Number(value) > Number.MAX_SAFE_INTEGER);
  return { reference, ...(isExact && { value, cells }) };
}
