import type { Notify } from '../review/events.js';
import { describe, describeMilestone } from './progress-words.js';

/** Between two lines of progress where there is no terminal. */
const linesEveryMs = 10_000;

interface LinesOptions {
  /** Takes a line, without its end. */
  readonly write: (text: string) => void;
  readonly clock: () => number;
}

/** What happens in a run in sparse lines, for a file or a terminal that can't draw. */
export function createLines({ write, clock }: LinesOptions): Notify {
  let lastAt = clock();
  let said: string | undefined;
  return (event) => {
    const milestone = event.type === 'step-ended' ? describeMilestone(event) : undefined;
    const isProgress =
      event.type === 'collecting' ||
      event.type === 'step-ended' ||
      event.type === 'watched' ||
      event.type === 'transferring';
    if (isProgress && !milestone && clock() - lastAt < linesEveryMs) return;
    const text = milestone ?? describe(event, clock());
    if (text === undefined || (milestone !== undefined && milestone === said)) return;
    said = milestone ?? said;
    lastAt = clock();
    write(text);
  };
}
