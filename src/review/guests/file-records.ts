import { mostRecordLines, splitCells } from '../file/csv.js';

/** A record of a CSV file, byte for byte. */
export interface FileRecord {
  /** Its first line, counted from 1. */
  readonly line: number;
  /** Including its line end. */
  readonly raw: Buffer;
  /** Undefined if its quotes are malformed. */
  readonly cells: readonly string[] | undefined;
}

const lineFeed = 0x0a;
const byteOrderMark = '\ufeff';

/**
 * Cuts a CSV file of ours or of the service into records, a block at a time, so that their bytes together are the file's.
 * An unclosed quote makes only its own line malformed.
 */
export async function* readRecords(
  blocks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly FileRecord[], void, undefined> {
  let pending: Buffer = Buffer.alloc(0);
  let line = 1;
  const waiting: Buffer[] = [];

  function* cut(isEnd: boolean): Generator<FileRecord> {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const { lines, cells } = joinLines(waiting, isEnd);
      if (lines === 0) return;
      yield { line, raw: lines === 1 ? first : Buffer.concat(waiting.slice(0, lines)), cells };
      line += lines;
      waiting.splice(0, lines);
    }
  }

  for await (const block of blocks) {
    pending = Buffer.concat([pending, block]);
    let start = 0;
    for (let end = pending.indexOf(lineFeed); end !== -1; end = pending.indexOf(lineFeed, start)) {
      waiting.push(pending.subarray(start, end + 1));
      start = end + 1;
    }
    const records = [...cut(false)];
    // What waits may point into the block, which is only valid now.
    for (const [index, one] of waiting.entries()) waiting[index] = Buffer.from(one);
    pending = Buffer.from(pending.subarray(start));
    yield records;
  }
  if (pending.length > 0) waiting.push(pending);
  yield [...cut(true)];
}

/** How many lines form the next record; 0 if more lines are needed. */
function joinLines(
  waiting: readonly Buffer[],
  isEnd: boolean,
): { readonly lines: number; readonly cells?: readonly string[] | undefined } {
  let text = '';
  for (const [index, line] of waiting.slice(0, mostRecordLines).entries()) {
    text += line.toString();
    const cells = splitCells(withoutEnd(text));
    if (cells === 'malformed') return { lines: 1, cells: undefined };
    if (cells !== 'open') return { lines: index + 1, cells };
  }
  return isEnd || waiting.length >= mostRecordLines ? { lines: 1, cells: undefined } : { lines: 0 };
}

function withoutEnd(text: string): string {
  const begun = text.startsWith(byteOrderMark) ? text.slice(1) : text;
  return begun.replace(/\r?\n$/, '');
}

/** The record's line end as written; empty at the end of a file. */
export function lineEndOf({ raw }: FileRecord): string {
  return /\r?\n$/.exec(raw.toString('latin1', Math.max(0, raw.length - 2)))?.[0] ?? '';
}

/** Whether any of the texts occurs in the bytes, even across two blocks. */
export async function contains(
  blocks: AsyncIterable<Uint8Array>,
  texts: readonly string[],
): Promise<boolean> {
  const needles = texts.map((text) => Buffer.from(text));
  const overlap = Math.max(0, ...needles.map(({ length }) => length - 1));
  let last: Buffer = Buffer.alloc(0);
  for await (const block of blocks) {
    const bytes = Buffer.concat([last, block]);
    if (needles.some((needle) => bytes.includes(needle))) return true;
    last = Buffer.from(bytes.subarray(Math.max(0, bytes.length - overlap)));
  }
  return false;
}
