import type { HotelReviewEvent } from '../events/events.js';
import { createExportProgress, type ExportProgress } from './export-progress.js';
import { createProgress, type Progress, type ProgressOptions } from './progress.js';
import { createRangeProgress, type RangeProgress } from './range-progress.js';
import { createSyncProgress, type SyncProgress } from './sync-progress.js';
import { createWatchProgress } from './watch-progress.js';

/** Shows a person on a terminal how far the work has come. */
export interface TerminalProgress {
  readonly notify: (event: HotelReviewEvent) => void;
  /** Shows many days at once from now on, instead of one. */
  followDays(): RangeProgress;
  /** Ends the progress: further output starts on a line of its own, and later events are not shown. */
  stop(): void;
}

export function createTerminalProgress(options: ProgressOptions): TerminalProgress {
  let review: Progress = createProgress(options);
  let sync: SyncProgress | undefined;
  let fetching: ExportProgress | undefined;
  let watching: ReturnType<typeof createWatchProgress> | undefined;

  return {
    notify(event) {
      switch (event.type) {
        case 'sync-begun':
        case 'page-stored':
        case 'sync-restarted':
        case 'sync-ended-at-key':
        case 'mappings-skipped':
          sync ??= createSyncProgress(options);
          return sync.notify(event);
        case 'waiting':
        case 'sighted':
        case 'downloading':
        case 'archived':
        case 'held-off':
          fetching ??= createExportProgress(options);
          return fetching.notify(event);
        case 'searching-stays':
        case 'moves-checked':
        case 'mappings-watched':
          watching ??= createWatchProgress(options);
          return watching(event);
        // The run's closing lines report canaries.
        case 'canary-missed':
        // A command's answer reports cases.
        case 'case-opened':
        case 'case-corrected':
        case 'case-escalated':
          return;
        // Reported once, at the end.
        case 'message-not-sent':
        // The schedulers run in `serve`, which writes log lines instead of progress.
        case 'due-day-started':
        case 'due-day-ended':
        case 'day-busy':
        case 'today-busy':
        case 'today-failed':
        case 'due-day-failed':
        case 'check-failed':
        case 'source-given-up':
        case 'sync-failed':
        case 'watch-failed':
        case 'mailbox-away':
        case 'mailbox-back':
        case 'mailbox-read':
        // An import's answer reports what it found.
        case 'verdict-mail-named':
        case 'verdict-mail-unknown':
        case 'verdict-mail-unreadable':
        case 'verdict-mail-set-aside':
        case 'verdict-mail-unknown-sender':
          return;
        default:
          return review.notify(event);
      }
    },
    followDays() {
      const range = createRangeProgress(options);
      review = range;
      return range;
    },
    stop() {
      review.stop();
      sync?.stop();
      fetching?.stop();
    },
  };
}
