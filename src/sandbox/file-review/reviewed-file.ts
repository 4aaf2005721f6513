import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { type IncorrectMapping, maxListedBookings } from '../outbox/notice.js';
import { type HotelDirectory, isCorrectlyMapped } from '../world/world.js';
import { readRecords, readWholeLines } from './file-records.js';
import type { EmptyCells } from './file-rules.js';

/** The column that a result has after those of the file. (Design 6.) */
const verdictColumn = 'IsCorrectMapping';

export interface Findings {
  readonly rows: number;
  /** Rows with an incorrect mapping. */
  readonly incorrectRows: number;
  /** The first of those rows, as many as an e-mail lists. */
  readonly incorrect: readonly IncorrectMapping[];
}

interface ReviewedFileOptions {
  readonly input: string;
  /** Where to write the result; must not exist. */
  readonly draft: string;
  readonly world: HotelDirectory;
  readonly masterIdColumn: string;
  readonly emptyCells: EmptyCells;
  readonly signal: AbortSignal;
}

/**
 * Reads a review file in one pass: checks it, verifies each booking and drafts the result, which has the file's columns
 * unchanged plus the verdict, and ends lines with LF.
 *
 * @throws BrokenFile when the file breaks a rule; the draft is then incomplete
 */
export async function reviewFile(options: ReviewedFileOptions): Promise<Findings> {
  const { input, draft, world, signal } = options;
  const incorrect: IncorrectMapping[] = [];
  let rows = 0;
  let incorrectRows = 0;

  async function* judge(lines: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
    for await (const record of readRecords(lines, options)) {
      switch (record.kind) {
        case 'header':
          yield [...record.cells, verdictColumn];
          break;
        case 'booking': {
          const isCorrect = isCorrectlyMapped(record.booking, world);
          rows += 1;
          if (!isCorrect) incorrectRows += 1;
          if (!isCorrect && incorrect.length < maxListedBookings) incorrect.push(record.booking);
          yield [...record.cells, isCorrect ? 'True' : 'False'];
        }
      }
    }
  }

  await pipeline(
    createReadStream(input),
    readWholeLines,
    judge,
    stringify(),
    createWriteStream(draft, { flags: 'wx', mode: 0o600 }),
    { signal },
  );
  return { rows, incorrectRows, incorrect };
}
