import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify';

/** Puts the result in its place, whole at once; an older one goes. */
export async function publishWhole(draft: string, result: string): Promise<void> {
  await rename(draft, result);
}

/**
 * Puts the first half of the records in the result's place, at once.
 *
 * @returns how many that are
 */
export async function publishHalf(draft: string, result: string, rows: number): Promise<number> {
  const half = Math.floor(rows / 2);
  const halfDraft = `${draft}.half`;

  async function* takeHalf(records: AsyncIterable<string[]>): AsyncGenerator<string[]> {
    let place = 0;
    for await (const record of records) {
      // The header, and so many behind it.
      if (place <= half) yield record;
      place += 1;
    }
  }

  await pipeline(
    createReadStream(draft),
    parse({ record_delimiter: '\n' }),
    takeHalf,
    stringify(),
    createWriteStream(halfDraft, { mode: 0o600 }),
  );
  await rename(halfDraft, result);
  return half;
}

/** A growing result gets longer at least so many times, and at least every half second. */
const leastPieces = 10;
const longestPause = 0.5;

/**
 * Writes the result piece by piece under its own name, wherever in a record the pieces end: the first at once, the last
 * after so many seconds. An older one goes before.
 *
 * @throws AbortError when the signal comes in between; what is written by then stays
 */
export async function publishGrowing(
  draft: string,
  result: string,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const pieces = Math.max(leastPieces, Math.ceil(seconds / longestPause) + 1);
  const pause = (seconds * 1_000) / (pieces - 1);
  await rm(result, { force: true });
  const { size } = await stat(draft);
  const target = await open(result, 'wx', 0o600);
  try {
    for (let piece = 0; piece < pieces; piece += 1) {
      if (piece > 0) await wait(pause, undefined, { signal });
      const start = Math.floor((size * piece) / pieces);
      const end = Math.floor((size * (piece + 1)) / pieces);
      await copyRange(draft, target, start, end);
    }
  } finally {
    await target.close();
  }
}

async function copyRange(source: string, target: FileHandle, start: number, end: number): Promise<void> {
  if (start === end) return;
  // Opened anew for every piece: streams of one handle would all stay its listeners until it is closed.
  for await (const block of createReadStream(source, { start, end: end - 1 })) await target.writeFile(block);
}
