import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Settings } from '../day-folder.js';

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
