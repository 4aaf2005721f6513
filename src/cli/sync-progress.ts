import type { MappingSync } from '../mappings/mapping-copy.js';
import type { NotifySync, SyncEvent } from '../mappings/sync-events.js';
import { formatCountOf, formatInstant, formatRate } from '../text/format.js';
import { createMovingLines } from './bars.js';
import { canDraw, type ProgressOptions } from './progress.js';

/** Interval between two lines of progress where there is no terminal. */
const linesEveryMs = 10_000;

export interface SyncProgress {
  readonly notify: NotifySync;
  /** Further output starts on a line of its own. */
  stop(): void;
}

/**
 * The progress of a sync. The number of pages is unknown: a counting line where the terminal can draw, occasional lines
 * elsewhere.
 */
export function createSyncProgress(options: ProgressOptions): SyncProgress {
  const { stream, clock } = options;
  const draws = canDraw(options);
  const startedAt = clock();
  let before = 0;
  let lastAt = startedAt;
  const lines = createMovingLines(stream);
  let saidSkipped = false;

  function say(event: SyncEvent): void {
    const rate = formatRate(event.sync.counts.read - before, clock() - startedAt);
    const text = `${describeSyncEvent(event)}${event.type === 'page-stored' && rate !== '' ? `, ${rate}` : ''}`;
    if (draws && event.type === 'page-stored') return lines.draw([text]);
    lines.erase();
    lines.say(text);
  }

  return {
    notify(event) {
      // Only one line: the result has the total.
      if (event.type === 'mappings-skipped' && saidSkipped) return;
      saidSkipped ||= event.type === 'mappings-skipped';
      const isDue = draws || event.type !== 'page-stored' || clock() - lastAt >= linesEveryMs;
      if (event.type === 'sync-begun') before = event.sync.counts.read;
      if (!isDue) return;
      lastAt = clock();
      say(event);
    },
    stop: lines.erase,
  };
}

function describeSyncEvent(event: SyncEvent): string {
  const { sync } = event;
  switch (event.type) {
    case 'sync-begun':
      return describeBegun(sync, event.isResumed);
    case 'page-stored':
      return `  ${formatCountOf(sync.counts.read, 'mapping')} read, ${formatCountOf(sync.counts.pages, 'page')}`;
    case 'sync-restarted':
      return `  the service no longer knows the resume key (${event.code}): starting over`;
    case 'sync-ended-at-key':
      return `  the service refused the resume key after the same page again (${event.code}), and nothing was new: the sync counts as complete`;
    case 'mappings-skipped':
      return `  ${formatCountOf(event.count, 'mapping')} of a page skipped: ${event.reason} (mappings stats lists them)`;
  }
}

function describeBegun({ since, scope, counts }: MappingSync, isResumed: boolean): string {
  const what = scope === '' ? 'all providers' : scope;
  return isResumed
    ? `mappings of ${what}: resuming the interrupted sync after ${formatCountOf(counts.read, 'mapping')}`
    : `mappings of ${what}: changes since ${formatInstant(since)}`;
}
