import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'csv-stringify';
import { readCsvRecords } from './csv-records.js';

/** Moves the whole draft into place in one step, replacing an older file. */
export async function publishWhole(draft: string, target: string): Promise<void> {
  await rename(draft, target);
}

/**
 * Moves the header and the first half of the records into place in one step.
 *
 * @returns the number of these records
 */
export async function publishHalf(draft: string, target: string, rows: number): Promise<number> {
  const half = Math.floor(rows / 2);
  const halfDraft = `${draft}.half`;

  async function* takeHalf(records: AsyncIterable<string[]>): AsyncGenerator<string[]> {
    let place = 0;
    for await (const record of records) {
      // Place 0 is the header.
      if (place <= half) yield record;
      place += 1;
    }
  }

  await pipeline(
    createReadStream(draft),
    (blocks: AsyncIterable<Buffer>) => readCsvRecords(blocks),
    takeHalf,
    stringify(),
    createWriteStream(halfDraft, { mode: 0o600 }),
  );
  await rename(halfDraft, target);
  return half;
}

/** Publishes a result with its verdicts in other words: the last column is named and filled by `translate`. */
export async function publishTranslated(
  draft: string,
  target: string,
  translate: (cell: string) => string,
): Promise<void> {
  const translated = `${draft}.translated`;

  async function* translateLast(records: AsyncIterable<string[]>): AsyncGenerator<string[]> {
    for await (const record of records) yield [...record.slice(0, -1), translate(record.at(-1) ?? '')];
  }

  await pipeline(
    createReadStream(draft),
    (blocks: AsyncIterable<Buffer>) => readCsvRecords(blocks),
    translateLast,
    stringify(),
    createWriteStream(translated, { mode: 0o600 }),
  );
  await rename(translated, target);
}

/** A growing file is written in at least this many pieces, and grows at least every half second. */
const minPieces = 10;
const maxPauseSeconds = 0.5;

/**
 * Removes an older file, then writes the new one piece by piece under its final name: the first piece at once, the last
 * after `seconds`. Pieces may end in the middle of a record.
 *
 * @throws AbortError when the signal aborts; what has been written stays
 */
export async function publishGrowing(
  draft: string,
  target: string,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const pieces = Math.max(minPieces, Math.ceil(seconds / maxPauseSeconds) + 1);
  const pause = (seconds * 1_000) / (pieces - 1);
  await rm(target, { force: true });
  const { size } = await stat(draft);
  const file = await open(target, 'wx', 0o600);
  try {
    for (let piece = 0; piece < pieces; piece += 1) {
      if (piece > 0) await wait(pause, undefined, { signal });
      const start = Math.floor((size * piece) / pieces);
      const end = Math.floor((size * (piece + 1)) / pieces);
      await copyRange(draft, file, start, end);
    }
  } finally {
    await file.close();
  }
}

async function copyRange(source: string, file: FileHandle, start: number, end: number): Promise<void> {
  if (start === end) return;
  // Opened for each piece: the streams of one handle would all stay registered on it until it is closed.
  for await (const block of createReadStream(source, { start, end: end - 1 })) await file.writeFile(block);
}
