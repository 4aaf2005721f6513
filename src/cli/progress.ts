import type { Notify, ReviewEvent } from '../review/events.js';
import type { Run } from '../review/run.js';
import { formatByteRate, formatBytes, formatCount, formatDuration, formatRate } from '../text/format.js';
import { print } from '../text/visible.js';
import { createMovingLines, drawBar } from './bars.js';
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

interface Phase {
  readonly name: string;
  /** Whether the time left can be estimated. */
  readonly isTimed: boolean;
  /** The transfer shown by the bar. */
  readonly transfer?: { readonly step: string; isOver: boolean };
  readonly startedAt: number;
  /** What was done before this process started; left out of the rate. */
  readonly before: number;
}

function createBars({ stream, clock }: ProgressOptions): Progress {
  const lines = createMovingLines(stream);
  let phase: Phase | undefined;
  /** What stands beside the bar, and whether the bar is complete. */
  let shown = { texts: '', isComplete: false };
  /** The last milestone, which is not repeated. */
  let lastMilestone: string | undefined;
  let isStopped = false;

  /** A complete bar stays on the screen. */
  function hide(): void {
    if (shown.isComplete) lines.leave();
    else lines.erase();
    shown = { texts: '', isComplete: false };
  }

  /** Text stands above the bar, or below a complete one. */
  function say(text: string): void {
    if (shown.isComplete) hide();
    lines.say(text);
  }

  /** @param count records, bookings or bytes, for the rate */
  function show(total: number, done: number, detail: string, count: number): void {
    if (!phase) return;
    const { name, isTimed, startedAt, before, transfer } = phase;
    const [took, worked] = [clock() - startedAt, count - before];
    const rate = (transfer ? formatByteRate : formatRate)(worked, took);
    const left = isTimed && worked > 0 ? (took / worked) * (total - done) : 0;
    const texts = [detail, rate, left > 0 ? `${formatDuration(left)} left` : ''];
    shown = { texts: texts.filter((text) => text !== '').join('  '), isComplete: done >= total };
    lines.draw([`  ${name} ${drawBar(done, total)}  ${shown.texts}`]);
  }

  function completeCollect(): void {
    shown = { ...shown, isComplete: true };
    lines.draw([`  collect ${drawBar(1, 1)}  ${shown.texts}`]);
  }

  function showReviewed({ counts: { accepted, delivered, refused } }: Run): void {
    const done = delivered + refused;
    show(accepted, done, `${formatCount(done)} reviewed`, done);
  }

  function showSuspects(run: Run): void {
    const suspects = describeSuspects(run);
    if (suspects !== undefined) say(`  ${suspects}`);
  }

  function beginDelivery(run: Run): void {
    hide();
    phase = {
      name: 'deliver',
      isTimed: true,
      startedAt: clock(),
      before: run.counts.delivered + run.counts.refused,
    };
    showReviewed(run);
  }

  function showTransfer({ step, done, total }: ReviewEvent & { type: 'transferring' }): void {
    if (phase?.transfer?.step !== step.name) {
      hide();
      const transfer = { step: step.name, isOver: false };
      phase = { name: step.name, isTimed: true, transfer, startedAt: clock(), before: 0 };
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
      lines.say(`  ${milestone}`);
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
          lines.say(describeOpened(event.run, event.isResumed));
          if (event.run.collectedAt !== undefined) return beginDelivery(event.run);
          phase = { name: 'collect', isTimed: false, startedAt: clock(), before: 0 };
          return show(1, 0, '', 0);
        case 'collecting': {
          const { total, done } = event.progress ?? { total: 1, done: 0 };
          return show(total, done, `${formatCount(event.read)} read`, event.read);
        }
        case 'collected':
          if (phase?.name === 'collect') completeCollect();
          showSuspects(event.run);
          return beginDelivery(event.run);
        case 'step-ended':
          return showEnding(event);
        case 'transferring':
          return showTransfer(event);
        case 'watched':
          return showWatched(event.run);
        case 'settled':
          return hide();
        default: {
          const text = describe(event, clock());
          if (text !== undefined) say(`  ${text}`);
        }
      }
    },
    stop() {
      lines.leave();
      isStopped = true;
    },
  };
}
