import { openSqliteTables } from '../sqlite-tables.js';
import type { LaidDay } from './laid-day.js';

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
