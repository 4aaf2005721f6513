import type { WatchEvent } from '../cases/watch/watch-events.js';
import { formatCount, formatCountOf } from '../text/format.js';
import { print } from '../text/visible.js';
import type { ProgressOptions } from './progress.js';

/** Interval between two lines; most watches end before the first. */
const linesEveryMs = 5_000;

/** The progress of a watch in occasional lines. */
export function createWatchProgress({ stream, clock }: ProgressOptions): (event: WatchEvent) => void {
  let lastAt = clock();
  return (event) => {
    const text = describe(event);
    if (text === undefined || clock() - lastAt < linesEveryMs) return;
    lastAt = clock();
    print(stream, `  ${text}\n`);
  };
}

function describe(event: WatchEvent): string | undefined {
  switch (event.type) {
    case 'searching-stays':
      return `looking for current and upcoming stays: ${formatCount(event.runs)} of ${formatCountOf(event.of, 'run')} read`;
    case 'moves-checked':
      return `${formatCountOf(event.checkedMoves, 'move')} compared, ${formatCountOf(event.findings, 'finding')}`;
    case 'mappings-watched':
      return undefined;
  }
}
