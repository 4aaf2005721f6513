import { formatByteRate, formatBytes, formatCount, formatDuration, formatRate } from '../base/format.js';
import { drawBar, type MovingLines } from '../base/moving-lines.js';
import type { Notify, ReviewEvent } from '../review/events.js';
import type { Run } from '../rules/run.js';
import { describe, describeMilestone, describeOpened, describeSuspects } from './progress-words.js';

/** How far the review of a day has come. */
export interface ReviewProgress {
  readonly notify: Notify;
  /** Ends the bar: further output starts on a line of its own. */
  stop(): void;
}

/** How far many days have come at once. */
export interface DaysProgress extends ReviewProgress {
  /** Ends the bar of a day. */
  end(day: string, words: string): void;
  /** Writes a line about the range as a whole. */
  say(words: string): void;
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

/** A bar for each phase of a day, with rate and time left. */
export function createDayBar(lines: MovingLines, clock: () => number): ReviewProgress {
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

/** The width of the longest phase. */
const phaseWidth = 'deliver'.length;

/** A bar for each of many days. */
export function createDayBars(lines: MovingLines, clock: () => number): DaysProgress {
  const bars = new Map<string, string>();
  let isStopped = false;

  function say(words: string): void {
    if (!isStopped) lines.say(words);
  }

  function show(day: string, phase: string, total: number, done: number, detail: string): void {
    bars.set(day, `  ${day}  ${phase.padEnd(phaseWidth)} ${drawBar(done, total)}  ${detail}`);
    lines.draw([...bars.values()]);
  }

  function showDelivered(
    event: ReviewEvent & { type: 'run-opened' | 'collected' | 'step-ended' | 'watched' },
  ) {
    const { day, counts } = event.run;
    const done = counts.delivered + counts.refused;
    show(day, 'deliver', counts.accepted, done, `${formatCount(done)} reviewed`);
  }

  return {
    notify(event) {
      if (isStopped) return;
      switch (event.type) {
        case 'run-opened':
          say(describeOpened(event.run, event.isResumed));
          if (event.run.collectedAt !== undefined) showDelivered(event);
          else show(event.run.day, 'collect', 1, 0, '');
          return;
        case 'collecting': {
          const { total, done } = event.progress ?? { total: 1, done: 0 };
          return show(event.run.day, 'collect', total, done, `${formatCount(event.read)} read`);
        }
        case 'collected': {
          const suspects = describeSuspects(event.run);
          if (suspects !== undefined) say(`${event.run.day}: ${suspects}`);
          return showDelivered(event);
        }
        case 'watched':
          return showDelivered(event);
        case 'step-ended': {
          const { day, counts } = event.run;
          const milestone = describeMilestone(event);
          return milestone === undefined
            ? showDelivered(event)
            : show(day, 'deliver', counts.accepted, counts.delivered, milestone);
        }
        case 'transferring':
          return show(event.run.day, event.step.name, event.total, event.done, formatBytes(event.done));
        default: {
          const day = dayOf(event);
          const words = describe(event, clock());
          if (words !== undefined) say(day === undefined ? words : withDay(day, words));
        }
      }
    },
    end(day, words) {
      if (bars.delete(day)) lines.draw([...bars.values()]);
      say(`${day}: ${words}`);
    },
    say,
    stop() {
      lines.erase();
      isStopped = true;
    },
  };
}

export function withDay(day: string, words: string): string {
  return words.startsWith(day) ? words : `${day}: ${words}`;
}

export function dayOf(event: ReviewEvent): string | undefined {
  if ('run' in event) return event.run?.day;
  return 'day' in event ? event.day : undefined;
}
