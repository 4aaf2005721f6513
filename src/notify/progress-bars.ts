import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import { print } from '../base/foreign-text.js';
import { formatByteRate, formatBytes, formatCount, formatDuration, formatRate } from '../base/format.js';
import { describeSuspects, type ReviewEvent } from '../review/events.js';
import type { Run } from '../rules/run.js';
import { describe, type HotelReviewEvent } from './events.js';

/** How far the review of a day has come, or the reviews of many days at once. */
export interface ReviewProgress {
  readonly notify: (event: HotelReviewEvent) => void;
  /** Ends the bar of one of many days. */
  end(day: string, words: string): void;
  /** Writes a line about the range as a whole. */
  say(words: string): void;
  /** Ends the bars: further output starts on a line of its own. */
  stop(): void;
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

interface Bar {
  phase?: Phase;
  /** As drawn; empty if it is not. */
  line: string;
  /** What stands beside it. */
  texts: string;
  isComplete: boolean;
  /** It is not repeated. */
  lastMilestone?: string;
}

/** The width of the longest phase. */
const phaseWidth = 'deliver'.length;

/**
 * A bar for each phase of a day, with rate and time left; a complete one stays on the screen. Of many days, each has one bar, which
 * changes until the day is over.
 */
export function createBars(
  lines: ReturnType<typeof createMovingLines>,
  clock: () => number,
  isOfMany: boolean,
): ReviewProgress {
  const bars = new Map<string, Bar>();
  let isStopped = false;

  function barOf(day = ''): Bar {
    const name = isOfMany ? day : '';
    const bar = bars.get(name) ?? { line: '', texts: '', isComplete: false };
    bars.set(name, bar);
    return bar;
  }

  function draw(): void {
    lines.draw([...bars.values()].flatMap(({ line }) => (line === '' ? [] : [line])));
  }

  /** Of many days, the next phase takes the bar over. */
  function hide(bar: Bar): void {
    if (isOfMany) return;
    if (bar.isComplete) lines.leave();
    else lines.erase();
    Object.assign(bar, { line: '', isComplete: false });
  }

  /** Text stands above the bar, or below a complete one. */
  function say(day: string | undefined, text: string): void {
    if (isOfMany) return lines.say(withDay(day, text));
    const bar = barOf();
    if (bar.isComplete) hide(bar);
    lines.say(`  ${text}`);
  }

  function drawDay(day: string, bar: Bar, name: string, done: number, total: number): void {
    const title = isOfMany ? `${day}  ${name.padEnd(phaseWidth)}` : name;
    bar.line = `  ${title} ${drawBar(done, total)}  ${bar.texts}`;
    bar.isComplete = done >= total;
    draw();
  }

  /** @param count records, bookings or bytes, for the rate */
  function show(day: string, total: number, done: number, detail: string, count: number): void {
    const bar = barOf(day);
    if (!bar.phase) return;
    const { name, isTimed, startedAt, before, transfer } = bar.phase;
    const [took, worked] = [clock() - startedAt, count - before];
    const rate = (transfer ? formatByteRate : formatRate)(worked, took);
    const left = isTimed && worked > 0 ? (took / worked) * (total - done) : 0;
    const texts = isOfMany ? [detail] : [detail, rate, left > 0 ? `${formatDuration(left)} left` : ''];
    bar.texts = texts.filter((text) => text !== '').join('  ');
    drawDay(day, bar, name, done, total);
  }

  function showDelivered({ day, counts: { accepted, delivered, refused } }: Run, detail?: string): void {
    const done = delivered + refused;
    show(day, accepted, done, detail ?? `${formatCount(done)} reviewed`, done);
  }

  function begin(day: string, phase: Omit<Phase, 'startedAt' | 'before'>, before = 0): void {
    const bar = barOf(day);
    hide(bar);
    bar.phase = { ...phase, startedAt: clock(), before };
  }

  function beginDelivery(run: Run, detail?: string): void {
    begin(run.day, { name: 'deliver', isTimed: true }, run.counts.delivered + run.counts.refused);
    showDelivered(run, detail);
  }

  function showOpened({ run }: ReviewEvent & { type: 'run-opened' }, words: string): void {
    hide(barOf(run.day));
    lines.say(words);
    if (run.collectedAt !== undefined) return beginDelivery(run);
    begin(run.day, { name: 'collect', isTimed: false });
    show(run.day, 1, 0, '', 0);
  }

  function showCollected(run: Run): void {
    const bar = barOf(run.day);
    if (bar.phase?.name === 'collect') drawDay(run.day, bar, 'collect', 1, 1);
    const suspects = describeSuspects(run);
    if (suspects !== undefined) say(run.day, suspects);
    beginDelivery(run);
  }

  function showTransfer({ run, step, done, total }: ReviewEvent & { type: 'transferring' }): void {
    const bar = barOf(run.day);
    if (bar.phase?.transfer?.step !== step.name)
      begin(run.day, { name: step.name, isTimed: true, transfer: { step: step.name, isOver: false } });
    show(run.day, total, done, formatBytes(done), done);
    if (bar.phase?.transfer) bar.phase.transfer.isOver = done === total;
  }

  function showEnding(event: ReviewEvent & { type: 'step-ended' }): void {
    const { run, step } = event;
    const bar = barOf(run.day);
    const milestone = describeMilestone(event);
    if (milestone !== undefined && milestone !== bar.lastMilestone) {
      bar.lastMilestone = milestone;
      if (isOfMany) return beginDelivery(run, milestone);
      hide(bar);
      delete bar.phase;
      lines.say(`  ${milestone}`);
    }
    // Batches posted during a transfer don't replace its bar.
    if (step.kind === 'batch') showWatched(run);
  }

  /** Work of other processes moves the bar, but does not replace the bar of this process's transfer. */
  function showWatched(run: Run): void {
    const { phase } = barOf(run.day);
    if (phase?.transfer?.isOver === false) return;
    if (!phase || phase.transfer) beginDelivery(run);
    else showDelivered(run);
  }

  return {
    notify(event) {
      if (isStopped) return;
      const words = describe(event, clock());
      switch (event.type) {
        case 'run-opened':
          return showOpened(event, words ?? '');
        case 'collecting': {
          const { total, done } = event.progress ?? { total: 1, done: 0 };
          return show(event.run.day, total, done, `${formatCount(event.read)} read`, event.read);
        }
        case 'collected':
          return showCollected(event.run);
        case 'step-ended':
          return showEnding(event);
        case 'transferring':
          return showTransfer(event);
        case 'watched':
          return showWatched(event.run);
        case 'settled':
          return hide(barOf(event.run.day));
        default:
          if (words !== undefined) say(dayOf(event), words);
      }
    },
    end(day, words) {
      if (bars.delete(day)) draw();
      if (!isStopped) lines.say(`${day}: ${words}`);
    },
    say(words) {
      if (!isStopped) lines.say(words);
    },
    stop() {
      if (isOfMany) lines.erase();
      else lines.leave();
      isStopped = true;
    },
  };
}

/** Each step of a file delivery is a milestone; batches are only counted. */
export function describeMilestone(ended: ReviewEvent & { type: 'step-ended' }): string | undefined {
  const { step, outcome, evidence } = ended;
  if (step.kind === 'batch') return undefined;
  if (step.kind === 'await-result' && outcome !== 'done') return `waiting for the result (${evidence.code})`;
  return outcome === 'done' ? `${step.name}: done` : `${step.name}: ${outcome} (${evidence.code})`;
}

export function withDay(day: string | undefined, words: string): string {
  return day === undefined || words.startsWith(day) ? words : `${day}: ${words}`;
}

export function dayOf(event: HotelReviewEvent): string | undefined {
  if ('run' in event) return event.run?.day;
  return 'day' in event ? event.day : undefined;
}

const barWidth = 24;

/** The bar of what is done, and its share in percent. */
export function drawBar(done: number, total: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const full = Math.round(share * barWidth);
  return `${'█'.repeat(full)}${'░'.repeat(barWidth - full)} ${Math.floor(share * 100)}%`;
}

const leastMsBetween = 100;

/** Lines at the bottom of a terminal, which change; text is printed above them. */
export function createMovingLines(stream: NodeJS.WriteStream) {
  let lines: readonly string[] = [];
  let onScreen = 0;
  let drawnAt = 0;

  function clear(): void {
    if (onScreen === 0) return;
    cursorTo(stream, 0);
    moveCursor(stream, 0, 1 - onScreen);
    clearScreenDown(stream);
    onScreen = 0;
  }

  function redraw(): void {
    clear();
    // A line that wraps would take two on the screen. Some terminals don't know their width.
    const most = (stream.columns || 80) - 1;
    print(stream, lines.map((line) => [...line].slice(0, most).join('')).join('\n'));
    onScreen = lines.length;
    drawnAt = performance.now();
  }

  return {
    /** Replaces the lines. Within a moment of the last time, what is on the screen stays. */
    draw(changed: readonly string[]): void {
      lines = changed;
      if (lines.length !== onScreen || performance.now() - drawnAt >= leastMsBetween) redraw();
    },
    /** Prints a line of text. */
    say(text: string): void {
      clear();
      print(stream, `${text}\n`);
      if (lines.length > 0) redraw();
    },
    /** Leaves the lines where they are: further ones are drawn below. */
    leave(): void {
      if (lines.length === 0) return;
      redraw();
      print(stream, '\n');
      lines = [];
      onScreen = 0;
    },
    erase(): void {
      clear();
      lines = [];
    },
  };
}
