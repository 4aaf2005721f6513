import type { DayAxis } from './day-axis.js';
import { round } from './figure.js';

export interface Column {
  readonly day: string;
  /** In pixels */
  readonly height: number;
}

/** With more days, columns touch: gaps below a pixel would flicker. */
const daysWithGaps = 62;
/** With fewer days, columns get no wider. */
const minDays = 15;

/** A path of one column per day, in ascending order of the days; those that touch are one shape, which saves bytes. */
export function drawColumns({ days, indexOf }: DayAxis, columns: readonly Column[], bottom: number): string {
  const width = days.length > daysWithGaps ? 1 : round(Math.min(0.8, days.length / minDays), 100);
  let end: number | undefined;
  const strokes = columns.map((column) => {
    const x = round((indexOf(column.day) ?? 0) + (1 - width) / 2, 100);
    const start = x === end ? '' : `${end === undefined ? '' : `V${bottom}`}M${x} ${bottom}`;
    end = x + width;
    return `${start}V${round(bottom - column.height)}h${width}`;
  });
  return end === undefined ? '' : `${strokes.join('')}V${bottom}`;
}
