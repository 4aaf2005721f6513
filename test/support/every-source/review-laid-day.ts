import { readFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ClosingReport } from '../command.js';
import { prepareDay, type Settings } from '../day-folder.js';
import { expectReport } from '../expectations.js';
import { prepareFileDay, remotePath } from '../file-day.js';
import { type ReceivedHotel, type StandIn, success } from '../http-stand-in.js';
import { openSqliteTables } from '../ledger-watch.js';
import type { RunningSftpServer } from '../sftp-server.js';

/** What came of a day, wherever it came from. */
export interface Outcome {
  readonly counts: ClosingReport['counts'];
  /** The bodies of all requests, sorted: several are under way at the same time. */
  readonly bodies: readonly string[];
  readonly hotels: readonly ReceivedHotel[];
  readonly rows: KeptRows;
  /** The uploaded file; undefined for a delivery by body. */
  readonly file: string | undefined;
}

/** Has the command review it, as a user does, by body and by file. */
export async function reviewLaidDay(laid: LaidDay, server: RunningSftpServer) {
  const [byBody, byFile] = await Promise.all([reviewByBody(laid), reviewByFile(laid, server)]);
  return { byBody, byFile };
}

async function reviewByBody(laid: LaidDay): Promise<Outcome> {
  const { folder, standIn } = await prepareDay({ settings: laid.settings });
  const result = await folder.runDay();
  expectReport(result, { exitCode: 0, state: 'succeeded' });
  return {
    counts: result.report.counts,
    ...readRequests(standIn),
    rows: await readKeptRows(folder.ledgerFile, laid),
    file: undefined,
  };
}

async function reviewByFile(laid: LaidDay, server: RunningSftpServer): Promise<Outcome> {
  const { folder, standIn } = await prepareFileDay(server, {
    settings: laid.settings,
    async onCall(call) {
      await call.writeResult({ affected: call.renderResult().match(/90071992547\d+5(?=,)/g) ?? [] });
      return success;
    },
  });
  const result = await folder.runDay();
  expectReport(result, { exitCode: 0, state: 'succeeded' });
  return {
    counts: result.report.counts,
    ...readRequests(standIn),
    rows: await readKeptRows(folder.ledgerFile, laid),
    file: readFileSync(server.disk(remotePath), 'utf8'),
  };
}

function readRequests(standIn: StandIn) {
  const posts = standIn.requests.filter(({ method }) => method === 'POST');
  return { bodies: posts.map(({ body }) => body.toString()).sort(), hotels: standIn.accepted() };
}

/** A day that was put where bookings come from. */
export interface LaidDay {
  /** What a configuration says of it: `source`, and `s3` where that is needed. */
  readonly settings: Settings;
  /** Which record, counted from 0, the source means by a place: a line, a row; -1 where none of them is there. */
  recordAt(place: number): number;
}

/** Takes the file, which the usual settings name, out of those of a source that has none. */
export const noFile = { path: undefined };

/** Where records are numbered from 1. */
export const byNumber = (place: number) => place - 1;

/** Goes with the test. */
export async function makeFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'every-source-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

type Row = Readonly<Record<string, unknown>>;
export type KeptRows = Readonly<Record<string, readonly Row[]>>;

/** Who did it, where the bookings came from, and when: that is no part of the day. */
const ofTheRunAlone: readonly string[] = [
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
const ofTheFileAlone: readonly string[] = ['modifiedAt', 'triggeredAt', 'archivedTo'];
const places: readonly string[] = ['place', 'first_place'];

/**
 * All rows of the tables that a run fills, without what is of the run alone. What sources count in their own ways, lines or
 * rows, stands there as the number of the record, counted from 0.
 */
export async function readKeptRows(ledgerFile: string, laid: LaidDay): Promise<KeptRows> {
  const tables = openSqliteTables(ledgerFile);
  try {
    const names = await tables.rows(
      `SELECT name FROM sqlite_schema WHERE name = 'runs' OR type = 'table' AND sql LIKE '%REFERENCES runs%' ORDER BY name`,
    );
    const kept: Record<string, readonly Row[]> = {};
    for (const { name } of names) {
      const rows = await tables.rows(`SELECT * FROM ${name} ORDER BY 1, 2, 3`);
      kept[String(name)] = rows.map((row) => withoutTheRun(row, laid));
    }
    return kept;
  } finally {
    await tables.close();
  }
}

function withoutTheRun(row: Row, { recordAt }: LaidDay): Row {
  const columns = Object.entries(row).filter(([name]) => !ofTheRunAlone.includes(name));
  return Object.fromEntries(
    columns.map(([name, value]) => [
      name,
      places.includes(name) ? recordAt(Number(value)) : showCell(name, value),
    ]),
  );
}

/** Bytes as text, which is far quicker to compare. */
function showCell(name: string, cell: unknown): unknown {
  if (Buffer.isBuffer(cell)) return cell.toString(name === 'lines' ? 'utf8' : 'base64');
  return name === 'file' && typeof cell === 'string' ? readFile(cell) : cell;
}

function readFile(json: string): unknown {
  return JSON.parse(json, (name, value: unknown) => (ofTheFileAlone.includes(name) ? undefined : value));
}
