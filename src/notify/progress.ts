import { formatByteRate, formatBytes, formatRate } from '../base/format.js';
import { createMovingLines, drawBar } from '../base/moving-lines.js';
import type { WatchEvent } from '../cases/follow-mappings.js';
import type { ExportEvent } from '../mappings/export/await-export.js';
import type { SyncEvent } from '../mappings/sync-events.js';
import type { Notify } from '../review/events.js';
import type { HotelReviewEvent } from './events.js';
import {
  createDayBar,
  createDayBars,
  type DaysProgress,
  dayOf,
  type ReviewProgress,
  withDay,
} from './progress-bars.js';
import {
  describe,
  describeExport,
  describeMilestone,
  describeSync,
  describeWatch,
} from './progress-words.js';

/** Shows a person how far the work has come. */
export interface Progress {
  readonly notify: (event: HotelReviewEvent) => void;
  /** Shows many days at once from now on, instead of one. */
  followDays(): Omit<DaysProgress, 'notify'>;
  /** Ends the progress: further output starts on a line of its own, and later events of a review are not shown. */
  stop(): void;
}

interface ProgressOptions {
  readonly stream: NodeJS.WriteStream;
  readonly clock: () => number;
  /** A terminal without escape codes (TERM=dumb). */
  readonly isDumb?: boolean;
}

/** Interval between two lines of progress where there is no terminal. */
const linesEveryMs = 10_000;
/** The same for a watch, everywhere; most watches end before the first. */
const watchLinesEveryMs = 5_000;

/** Lines that change where the terminal can draw, occasional lines elsewhere. */
export function createProgress({ stream, clock, isDumb = false }: ProgressOptions): Progress {
  const draws = stream.isTTY && !isDumb;
  const lines = createMovingLines(stream);
  let review: ReviewProgress = draws
    ? createDayBar(lines, clock)
    : { notify: createOccasionalLines(lines.say, clock), stop() {} };
  const throttle = createThrottle(linesEveryMs, clock);
  const watchThrottle = createThrottle(watchLinesEveryMs, clock);
  let sync = { startedAt: 0, before: 0, saidSkipped: false };
  let download: { readonly name: string; readonly startedAt: number; readonly before: number } | undefined;
  /** Removes what is drawn, or leaves it on the screen. */
  let end = lines.leave;

  /** The number of pages is unknown: it counts. */
  function showSync(event: SyncEvent): void {
    const { read } = event.sync.counts;
    const text = describeSync(event);
    if (event.type === 'page-stored') {
      const rate = formatRate(read - sync.before, clock() - sync.startedAt);
      const line = rate === '' ? text : `${text}, ${rate}`;
      if (draws) lines.draw([line]);
      else if (throttle.isDue()) lines.say(line);
      return;
    }
    if (event.type === 'sync-begun') {
      sync = { startedAt: clock(), before: read, saidSkipped: false };
      end = lines.erase;
    }
    // Only one line: the result has the total.
    if (event.type === 'mappings-skipped' && sync.saidSkipped) return;
    sync.saidSkipped ||= event.type === 'mappings-skipped';
    throttle.reset();
    lines.erase();
    lines.say(text);
  }

  function showExport(event: ExportEvent): void {
    if (event.type === 'downloading') return showDownload(event);
    if (event.type === 'waiting') throttle.reset();
    download = undefined;
    lines.leave();
    lines.say(describeExport(event));
  }

  function showDownload({ name, done, total }: ExportEvent & { type: 'downloading' }): void {
    if (download?.name !== name || done < download.before) {
      lines.leave();
      download = { name, startedAt: clock(), before: done };
    }
    const rate = formatByteRate(done - download.before, clock() - download.startedAt);
    if (draws) lines.draw([`  ${name} ${drawBar(done, total)}  ${formatBytes(done)}  ${rate}`.trimEnd()]);
    else if (throttle.isDue())
      lines.say(`  ${name}: ${formatBytes(done)} of ${formatBytes(total)}${rate === '' ? '' : `, ${rate}`}`);
  }

  function showWatch(event: WatchEvent): void {
    const text = describeWatch(event);
    if (text !== undefined && watchThrottle.isDue()) lines.say(`  ${text}`);
  }

  return {
    notify(event) {
      switch (event.type) {
        case 'sync-begun':
        case 'page-stored':
        case 'sync-restarted':
        case 'sync-ended-at-key':
        case 'pages-shortened':
        case 'mappings-skipped':
          return showSync(event);
        case 'waiting':
        case 'sighted':
        case 'downloading':
        case 'archived':
        case 'held-off':
          return showExport(event);
        case 'searching-stays':
        case 'moves-checked':
        case 'mappings-watched':
          return showWatch(event);
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
        case 'look-failed':
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
      const days = draws ? createDayBars(lines, clock) : createLinesByDay(lines.say, clock);
      review = days;
      end = lines.erase;
      return days;
    },
    stop() {
      end();
      review.stop();
    },
  };
}

/** What is due once in that time, counted from when it was first asked for or last reset. */
function createThrottle(everyMs: number, clock: () => number) {
  let lastAt: number | undefined;
  const reset = () => {
    lastAt = clock();
  };
  return {
    reset,
    isDue(): boolean {
      if (lastAt === undefined) reset();
      else if (clock() - lastAt >= everyMs) {
        reset();
        return true;
      }
      return false;
    },
  };
}

/** The progress of a run in occasional lines, for a file or a terminal that can't draw. */
function createOccasionalLines(write: (text: string) => void, clock: () => number): Notify {
  let lastAt = clock();
  let lastMilestone: string | undefined;
  return (event) => {
    const milestone = event.type === 'step-ended' ? describeMilestone(event) : undefined;
    const isProgress =
      event.type === 'collecting' ||
      event.type === 'step-ended' ||
      event.type === 'watched' ||
      event.type === 'transferring';
    if (isProgress && !milestone && clock() - lastAt < linesEveryMs) return;
    const text = milestone ?? describe(event, clock());
    if (text === undefined || (milestone !== undefined && milestone === lastMilestone)) return;
    lastMilestone = milestone ?? lastMilestone;
    lastAt = clock();
    write(text);
  };
}

/** The same for many days; each line names its day. */
function createLinesByDay(say: (text: string) => void, clock: () => number): DaysProgress {
  const days = new Map<string, Notify>();
  const general = createOccasionalLines(say, clock);
  return {
    notify(event) {
      const day = dayOf(event);
      if (day === undefined) return general(event);
      const notify = days.get(day) ?? createOccasionalLines((text) => say(withDay(day, text)), clock);
      days.set(day, notify);
      notify(event);
    },
    end(day, words) {
      days.delete(day);
      say(`${day}: ${words}`);
    },
    say,
    stop() {},
  };
}
