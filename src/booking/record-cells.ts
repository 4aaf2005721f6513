import { hashReference } from './booking.js';
import { readField } from './field-text.js';

/** A record with more values than this is not looked through. */
const mostCells = 1_000;
/** What stands between values that a broken export puts into one cell. */
const separators = /[,;|\t"]/;

/**
 * Whatever a source's record holds that may be a reference, in any column and however deep, as references are read. Undefined for a record
 * with too many values.
 *
 * @param whole the record as its source has it: a list of cells, or an object
 */
export function listCells(whole: unknown): ReadonlySet<string> | undefined {
  const cells = new Set<string>();
  // A module's record may refer to itself.
  const seen = new Set<unknown>();
  const waiting = [whole];
  for (let value = waiting.pop(); value !== undefined || waiting.length > 0; value = waiting.pop()) {
    if (waiting.length > mostCells) return undefined;
    const text = readScalar(value);
    if (text === undefined && typeof value === 'object' && value !== null && !seen.has(value)) {
      seen.add(value);
      for (const each of Object.values(value)) waiting.push(each);
    }
    for (const part of text === undefined ? [] : [text, ...text.split(separators, mostCells)]) {
      const cell = readField('code', part);
      if (typeof cell === 'string') cells.add(cell);
    }
    if (cells.size > mostCells) return undefined;
  }
  return cells;
}

function readScalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  // A database's binary column.
  return value instanceof Uint8Array ? Buffer.from(value).toString() : undefined;
}

/** Tells later whether a record held a reference, without telling what else it held. */
export function hashCells(cells: Iterable<string>): string {
  return Array.from(cells, hashCell).sort().join(' ');
}

/** Whether a record may have held that reference. */
export function mayHold(hashed: string, reference: string): boolean {
  return hashed.split(' ').includes(hashCell(reference));
}

function hashCell(cell: string): string {
  return hashReference(cell).toString(36);
}
