import { clearLine, moveCursor } from 'node:readline';
import type { SingleBar } from 'cli-progress';
import type { Notify, ReviewEvent } from '../review/events.js';
import type { Run } from '../review/run.js';
import { formatByteRate, formatBytes, formatCount, formatDuration, formatRate } from '../text/format.js';
import { print } from '../text/visible.js';
import { createBar } from './bars.js';
import {
  createLines,
  describe,
  describeMilestone,
  describeOpened,
  describeSuspects,
} from './progress-text.js';

export interface Progress {
  readonly notify: Notify;
  /** Ends the bar: further output starts on a line of its own. */
  stop(): void;
}

export interface ProgressOptions {
  readonly stream: NodeJS.WriteStream;
  readonly clock: () => number;
  /** A terminal without escape codes (TERM=dumb). */
  readonly isDumb?: boolean;
}

/** The progress of a run: a bar per phase where the terminal can draw one, occasional lines elsewhere. */
export function createProgress(options: ProgressOptions): Progress {
  const { stream, clock } = options;
  if (canDraw(options)) return createBars(options);
  return { notify: createLines({ write: (text) => print(stream, `${text}\n`), clock }), stop() {} };
}

export function canDraw({ stream, isDumb = false }: Pick<ProgressOptions, 'stream' | 'isDumb'>): boolean {
  return stream.isTTY && !isDumb;
}

const collectFormat = '  collect {bar} {percentage}%  {detail}  {rate}';
const deliverFormat = '  deliver {bar} {percentage}%  {detail}  {rate}  {eta_formatted}';

const transferFormat = '{bar} {percentage}%  {detail}  {rate}  {eta_formatted}';

interface Phase {
  readonly format: string;
  /** The transfer shown by the bar. */
  readonly transfer?: { readonly step: string; isOver: boolean };
  readonly startedAt: number;
  /** What was done before this process started; left out of the rate. */
  readonly before: number;
}

function createBars({ stream, clock }: ProgressOptions): Progress {
  let phase: Phase | undefined;
  let bar: SingleBar | undefined;
  /** The last milestone, which is not repeated. */
  let lastMilestone: string | undefined;
  let isStopped = false;

  /** Ends the bar and leaves it on the screen. */
  function endBar(): void {
    bar?.stop();
    bar = undefined;
  }

  /** Makes room for text: a complete bar stays above it, any other bar is redrawn below it on the next event. */
  function hide(): void {
    const isToComeBack = bar !== undefined && bar.getProgress() < 1;
    endBar();
    if (!isToComeBack) return;
    moveCursor(stream, 0, -1);
    clearLine(stream, 0);
  }

  /** @param count records, bookings or bytes, for the rate */
  function show(total: number, done: number, detail: string, count: number): void {
    if (!phase) return;
    const { format, startedAt, before, transfer } = phase;
    const rateOf = transfer ? formatByteRate : formatRate;
    const texts = { detail, rate: rateOf(count - before, clock() - startedAt) };
    if (bar) {
      bar.setTotal(total);
      bar.update(done, texts);
      return;
    }
    bar = createBar({ format, stream, formatTime: formatTimeLeft });
    bar.start(total, done, texts);
  }

  function showReviewed({ counts: { accepted, delivered, refused } }: Run): void {
    const done = delivered + refused;
    show(accepted, done, `${formatCount(done)} reviewed`, done);
  }

  function showSuspects(run: Run): void {
    const suspects = describeSuspects(run);
    if (suspects === undefined) return;
    hide();
    print(stream, `  ${suspects}\n`);
  }

  function beginDelivery(run: Run): void {
    hide();
    phase = {
      format: deliverFormat,
      startedAt: clock(),
      before: run.counts.delivered + run.counts.refused,
    };
    showReviewed(run);
  }

  function showTransfer({ step, done, total }: ReviewEvent & { type: 'transferring' }): void {
    if (phase?.transfer?.step !== step.name) {
      hide();
      const transfer = { step: step.name, isOver: false };
      phase = { format: `  ${step.name} ${transferFormat}`, transfer, startedAt: clock(), before: 0 };
    }
    show(total, done, formatBytes(done), done);
    if (phase.transfer) phase.transfer.isOver = done === total;
  }

  function showEnding(event: ReviewEvent & { type: 'step-ended' }): void {
    const milestone = describeMilestone(event);
    if (milestone !== undefined && milestone !== lastMilestone) {
      hide();
      phase = undefined;
      lastMilestone = milestone;
      print(stream, `  ${milestone}\n`);
    }
    // Batches posted during a transfer don't replace its bar.
    if (event.step.kind === 'batch') showWatched(event.run);
  }

  /** Work of other processes moves the bar, but does not replace the bar of this process's transfer. */
  function showWatched(run: Run): void {
    if (phase?.transfer?.isOver === false) return;
    if (!phase || phase.transfer) beginDelivery(run);
    else showReviewed(run);
  }

  return {
    notify(event) {
      if (isStopped) return;
      switch (event.type) {
        case 'run-opened':
          hide();
          print(stream, `${describeOpened(event.run, event.isResumed)}\n`);
          if (event.run.collectedAt !== undefined) return beginDelivery(event.run);
          phase = { format: collectFormat, startedAt: clock(), before: 0 };
          return show(1, 0, '', 0);
        case 'collecting': {
          const { total, done } = event.progress ?? { total: 1, done: 0 };
          return show(total, done, `${formatCount(event.read)} read`, event.read);
        }
        case 'collected':
          bar?.update(bar.getTotal());
          showSuspects(event.run);
          return beginDelivery(event.run);
        case 'step-ended':
          return showEnding(event);
        case 'transferring':
          return showTransfer(event);
        case 'watched':
          return showWatched(event.run);
        default: {
          const text = describe(event, clock());
          if (text === undefined) return;
          hide();
          print(stream, `  ${text}\n`);
        }
      }
    },
    stop() {
      endBar();
      isStopped = true;
    },
  };
}

/** @param seconds not a number while the time can't be estimated */
function formatTimeLeft(seconds: unknown): string {
  return typeof seconds === 'number' && seconds > 0 ? `${formatDuration(seconds * 1_000)} left` : '';
}
