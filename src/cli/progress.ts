import { clearLine, moveCursor } from 'node:readline';
import cliProgress from 'cli-progress';
import type { Notify, ReviewEvent } from '../review/events.js';
import type { Run } from '../review/run.js';
import {
  formatByteRate,
  formatBytes,
  formatCount,
  formatCountOf,
  formatDuration,
  formatRate,
} from './format.js';
import { describeError } from './safe-message.js';

/** Between two lines of progress where there is no terminal. */
const linesEveryMs = 10_000;

export interface Progress {
  readonly notify: Notify;
  /** Takes the bar off the screen, so that what follows starts on a line of its own. */
  stop(): void;
}

interface ProgressOptions {
  readonly stream: NodeJS.WriteStream;
  readonly clock: () => number;
  /** A terminal that knows no escape codes, as TERM=dumb says of one. */
  readonly isDumb?: boolean;
}

/** A bar per phase on a terminal that can draw one, sparse lines elsewhere. */
export function createProgress(options: ProgressOptions): Progress {
  return options.stream.isTTY && !options.isDumb ? createBars(options) : createLines(options);
}

const collectFormat = '  collect {bar} {percentage} %  {detail}  {rate}';
const deliverFormat = '  deliver {bar} {percentage} %  {detail}  {rate}  {eta_formatted}';

const transferFormat = '{bar} {percentage} %  {detail}  {rate}  {eta_formatted}';

interface Phase {
  readonly format: string;
  /** The transfer that it shows. */
  readonly transfer?: { readonly step: string; isOver: boolean };
  readonly startedAt: number;
  /** What an earlier process had done already: it counts for nothing in the rate. */
  readonly before: number;
}

function createBars({ stream, clock }: ProgressOptions): Progress {
  let phase: Phase | undefined;
  let bar: cliProgress.SingleBar | undefined;
  /** The last milestone: a look that finds nothing new is not told again. */
  let said: string | undefined;
  let isStopped = false;

  /** Leaves the bar as it is on the screen. */
  function leave(): void {
    bar?.stop();
    bar = undefined;
  }

  /** Makes room for words: a full bar stays above them, any other comes back below with what happens next. */
  function hide(): void {
    const isToComeBack = bar !== undefined && bar.getProgress() < 1;
    leave();
    if (!isToComeBack) return;
    moveCursor(stream, 0, -1);
    clearLine(stream, 0);
  }

  /** @param count what the rate is of, in records or bookings */
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
    bar = new cliProgress.SingleBar(
      {
        format,
        stream,
        hideCursor: true,
        barsize: 24,
        linewrap: false,
        etaBuffer: 50,
        formatTime: sayTimeLeft,
      },
      cliProgress.Presets.shades_classic,
    );
    bar.start(total, done, texts);
  }

  function showReviewed({ counts: { accepted, delivered, refused } }: Run): void {
    const done = delivered + refused;
    show(accepted, done, `${formatCount(done)} reviewed`, done);
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
    if (milestone !== undefined && milestone !== said) {
      hide();
      phase = undefined;
      said = milestone;
      stream.write(`  ${milestone}\n`);
    }
    // Batches that are posted meanwhile don't take a transfer's place.
    if (event.step.kind === 'batch') showWatched(event.run);
  }

  /** What others do for the run moves the bar; a transfer of our own keeps its place. */
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
          stream.write(`${describeOpened(event.run, event.isResumed)}\n`);
          if (event.run.collectedAt !== undefined) return beginDelivery(event.run);
          phase = { format: collectFormat, startedAt: clock(), before: 0 };
          return show(1, 0, '', 0);
        case 'collecting': {
          const { total, done } = event.progress ?? { total: 1, done: 0 };
          return show(total, done, `${formatCount(event.read)} read`, event.read);
        }
        case 'collected':
          bar?.update(bar.getTotal());
          return beginDelivery(event.run);
        case 'step-ended':
          return showEnding(event);
        case 'transferring':
          return showTransfer(event);
        case 'watched':
          return showWatched(event.run);
        case 'source-notice':
        case 'holding-off':
        case 'waiting-for-day':
        case 'superseded':
        case 'faulted':
        case 'queue-away':
        case 'queue-back':
        case 'stopping':
          hide();
          stream.write(`  ${describe(event, clock())}\n`);
          return;
        case 'step-claimed':
        case 'working':
        case 'settled':
          return;
      }
    },
    stop() {
      leave();
      isStopped = true;
    },
  };
}

/** @param seconds a text where nothing can be said yet */
function sayTimeLeft(seconds: unknown): string {
  return typeof seconds === 'number' && seconds > 0 ? `${formatDuration(seconds * 1_000)} left` : '';
}

function createLines({ stream, clock }: ProgressOptions): Progress {
  let lastAt = clock();
  let said: string | undefined;
  const write = (text: string) => {
    lastAt = clock();
    stream.write(`${text}\n`);
  };
  return {
    notify(event) {
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
      write(text);
    },
    stop() {},
  };
}

function sayWait(milliseconds: number): string {
  return milliseconds < 1_000 ? 'a moment' : formatDuration(milliseconds);
}

function describeOpened(run: Run, isResumed: boolean): string {
  const what = isResumed ? 'going on with' : 'starting';
  return `${run.day}: ${what} run ${run.id} by ${run.delivery}`;
}

/** What becomes of the steps of a file delivery is told one by one; batches are counted. */
function describeMilestone({
  step,
  outcome,
  evidence,
}: ReviewEvent & { type: 'step-ended' }): string | undefined {
  if (step.kind === 'batch') return undefined;
  if (step.kind === 'await-result' && outcome !== 'done') return `waiting for the result (${evidence.code})`;
  return outcome === 'done' ? `${step.name}: done` : `${step.name}: ${outcome} (${evidence.code})`;
}

function describe(event: ReviewEvent, now: number): string | undefined {
  switch (event.type) {
    case 'run-opened':
      return describeOpened(event.run, event.isResumed);
    case 'collecting':
      return `collecting: ${formatCountOf(event.read, 'record')} read`;
    case 'source-notice':
      return `the source has no column ${event.notice.column}: every booking goes without it`;
    case 'collected':
      return `collected: ${formatCountOf(event.run.counts.accepted, 'booking')} in ${formatCountOf(event.run.openSteps, 'step')}`;
    case 'step-ended':
    case 'watched': {
      const { delivered, refused, accepted } = event.run.counts;
      return `delivering: ${formatCount(delivered + refused)} of ${formatCountOf(accepted, 'booking')}`;
    }
    case 'transferring':
      return `${event.step.name}: ${formatBytes(event.done)} of ${formatBytes(event.total)}`;
    case 'holding-off':
      return `${event.cause === 'asked' ? 'the service asks for patience' : 'nothing gets through'} (${event.code}): waiting ${sayWait(event.until - now)}`;
    case 'waiting-for-day':
      return `${event.day} is being worked on by another process: waiting for it`;
    case 'superseded':
      return `${event.step} was taken over by another process`;
    case 'faulted':
      return `${event.step ?? 'the work'} broke off: ${describeError(event.error)}; it is tried again`;
    case 'queue-away':
      return `the queue at ${event.address} does not answer (${event.reason}): waiting for it`;
    case 'queue-back':
      return 'the queue answers again';
    case 'stopping':
      return `stopping: waiting at most ${formatDuration(event.graceMs)} for the steps in hand`;
    case 'step-claimed':
    case 'working':
    case 'settled':
      return undefined;
  }
}
