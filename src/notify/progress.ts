import { hasPassed } from '../base/elapsed.js';
import { isOneOf } from '../base/events.js';
import { formatByteRate, formatBytes, formatRate } from '../base/format.js';
import { watchEvents } from '../cases/events.js';
import { type ExportEvent, exportEvents, type SyncEvent, syncEvents } from '../mappings/events.js';
import { describe, type HotelReviewEvent } from './events.js';
import {
  createBars,
  createMovingLines,
  dayOf,
  describeMilestone,
  drawBar,
  type ReviewProgress,
  withDay,
} from './progress-bars.js';

export type Progress = ReturnType<typeof createProgress>;

/** Interval between two lines of progress where there is no terminal. */
const linesEveryMs = 10_000;
/** The same for a watch, everywhere; most watches end before the first. */
const watchLinesEveryMs = 5_000;

/**
 * Shows a person how far the work has come: in lines that change where the terminal can draw, in occasional lines elsewhere.
 *
 * @param isDumb a terminal without escape codes (TERM=dumb)
 */
export function createProgress(stream: NodeJS.WriteStream, clock: () => number, isDumb = false) {
  const draws = stream.isTTY && !isDumb;
  const lines = createMovingLines(stream);
  const follow = (isOfMany: boolean) =>
    draws ? createBars(lines, clock, isOfMany) : createLines(lines.say, clock, isOfMany);
  let review = follow(false);
  const throttle = createThrottle(linesEveryMs, clock);
  const watchThrottle = createThrottle(watchLinesEveryMs, clock);
  let sync: { readonly startedAt: number; readonly before: number; saidSkipped: boolean } | undefined;
  let download: { readonly name: string; readonly startedAt: number; readonly before: number } | undefined;

  /** The number of pages is unknown: it counts. */
  function showSync(event: SyncEvent): void {
    const { read } = event.sync.counts;
    const words = describe(event, clock());
    const text = event.type === 'sync-begun' ? `${words}` : `  ${words}`;
    if (event.type === 'page-stored') {
      const rate = sync ? formatRate(read - sync.before, clock() - sync.startedAt) : '';
      const line = rate === '' ? text : `${text}, ${rate}`;
      if (draws) lines.draw([line]);
      else if (throttle.isDue()) lines.say(line);
      return;
    }
    if (event.type === 'sync-begun') sync = { startedAt: clock(), before: read, saidSkipped: false };
    // Only one line: the result has the total.
    if (event.type === 'mappings-skipped' && sync) {
      if (sync.saidSkipped) return;
      sync.saidSkipped = true;
    }
    throttle.reset();
    lines.erase();
    lines.say(text);
  }

  function showExport(event: ExportEvent): void {
    if (event.type === 'downloading') return showDownload(event);
    if (event.type === 'waiting') throttle.reset();
    download = undefined;
    lines.leave();
    const words = describe(event, clock());
    lines.say(event.type === 'waiting' ? `${words}` : `  ${words}`);
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

  return {
    notify(event: HotelReviewEvent): void {
      if (isOneOf(syncEvents, event)) return showSync(event);
      if (isOneOf(exportEvents, event)) return showExport(event);
      if (!isOneOf(watchEvents, event)) return review.notify(event);
      const text = describe(event, clock());
      if (text !== undefined && watchThrottle.isDue()) lines.say(`  ${text}`);
    },
    /** Shows many days at once from now on, instead of one. */
    followDays(): Omit<ReviewProgress, 'notify'> {
      review = follow(true);
      return review;
    },
    /** Ends the progress: further output starts on a line of its own, and later events of a review are not shown. */
    stop(): void {
      if (sync) lines.erase();
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
      else if (hasPassed(everyMs, { since: lastAt, now: clock() })) {
        reset();
        return true;
      }
      return false;
    },
  };
}

/** What comes often; each other event gets its line at once. */
const frequent: readonly string[] = ['collecting', 'step-ended', 'watched', 'transferring'];

/** The progress of a run in occasional lines, for a file or a terminal that can't draw; of many days, each line names its day. */
function createLines(say: (text: string) => void, clock: () => number, isOfMany: boolean): ReviewProgress {
  const shown = new Map<string | undefined, { lastAt: number; lastMilestone?: string | undefined }>();
  shown.set(undefined, { lastAt: clock() });
  return {
    notify(event) {
      const day = isOfMany ? dayOf(event) : undefined;
      const last = shown.get(day) ?? { lastAt: clock() };
      shown.set(day, last);
      const milestone = event.type === 'step-ended' ? describeMilestone(event) : undefined;
      const isDue = hasPassed(linesEveryMs, { since: last.lastAt, now: clock() });
      if (frequent.includes(event.type) && !milestone && !isDue) return;
      const text = milestone ?? describe(event, clock());
      if (text === undefined || (milestone !== undefined && milestone === last.lastMilestone)) return;
      shown.set(day, { lastAt: clock(), lastMilestone: milestone ?? last.lastMilestone });
      say(withDay(day, text));
    },
    end(day, words) {
      shown.delete(day);
      say(`${day}: ${words}`);
    },
    say,
    stop() {},
  };
}
