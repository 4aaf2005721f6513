import { max, median } from 'simple-statistics';
import type { LoadedPage } from './served-desk.js';

/** What a page may take at most. */
export const goals = { milliseconds: 200, kilobytes: 100 };

export interface PageFigures {
  readonly address: string;
  readonly medianMs: number;
  readonly slowestMs: number;
  readonly kilobytes: number;
  /** Answers that were not a page, such as 503 for one that took too long. */
  readonly failures: readonly number[];
}

/** @throws Error without a load */
export function summarisePage(address: string, loads: readonly LoadedPage[]): PageFigures {
  const times = loads.map(({ milliseconds }) => milliseconds);
  return {
    address,
    medianMs: median(times),
    slowestMs: max(times),
    kilobytes: max(loads.map(({ bytes }) => bytes)) / 1_000,
    failures: loads.flatMap(({ status }) => (status === 200 ? [] : [status])),
  };
}

/** The pages that fail, or miss the goal of what is measured, with what they take. */
export function listMissed(pages: readonly PageFigures[], measures: 'time' | 'size'): readonly string[] {
  return pages.flatMap(({ address, medianMs, slowestMs, kilobytes, failures }) => {
    const failed = failures.length > 0 ? [`${address}: answered ${failures.join(', ')}`] : [];
    if (measures === 'size')
      return kilobytes > goals.kilobytes ? [...failed, `${address}: ${kilobytes.toFixed(0)} kB`] : failed;
    return medianMs > goals.milliseconds
      ? [...failed, `${address}: ${medianMs.toFixed(0)} ms (up to ${slowestMs.toFixed(0)})`]
      : failed;
  });
}
