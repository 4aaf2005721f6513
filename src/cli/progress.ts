import cliProgress from 'cli-progress';
import type { Notify, ReviewEvent } from '../review/events.js';
import type { Run } from '../review/run.js';
import { formatCount, formatDuration, formatRate } from './format.js';

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
}

/** A bar per phase on a terminal, sparse lines elsewhere. */
export function createProgress(options: ProgressOptions): Progress {
  return options.stream.isTTY ? createBars(options) : createLines(options);
}

const collectFormat = '  collect {bar} {percentage} %  {detail}  {rate}';
const deliverFormat = '  deliver {bar} {percentage} %  {detail}  {rate}  {eta_formatted} left';

interface Phase {
  readonly format: string;
  readonly startedAt: number;
  /** What an earlier process had done already: it counts for nothing in the rate. */
  readonly before: number;
}

function createBars({ stream, clock }: ProgressOptions): Progress {
  let phase: Phase | undefined;
  let bar: cliProgress.SingleBar | undefined;

  function hide(): void {
    bar?.stop();
    bar = undefined;
  }

  /** @param count what the rate is of, in records or bookings */
  function show(total: number, done: number, detail: string, count: number): void {
    if (!phase) return;
    const { format, startedAt, before } = phase;
    const texts = { detail, rate: formatRate(count - before, clock() - startedAt) };
    if (bar) {
      bar.setTotal(total);
      bar.update(done, texts);
      return;
    }
    bar = new cliProgress.SingleBar(
      { format, stream, hideCursor: true, barsize: 24, linewrap: false, etaBuffer: 50 },
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

  return {
    notify(event) {
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
          return showReviewed(event.run);
        case 'source-notice':
        case 'holding-off':
        case 'stopping':
          // The bar comes back below these words with the next thing that happens.
          hide();
          stream.write(`  ${describe(event, clock())}\n`);
          return;
        case 'step-claimed':
        case 'settled':
          return;
      }
    },
    stop() {
      hide();
      phase = undefined;
    },
  };
}

function createLines({ stream, clock }: ProgressOptions): Progress {
  let lastAt = clock();
  const write = (text: string) => {
    lastAt = clock();
    stream.write(`${text}\n`);
  };
  return {
    notify(event) {
      const isProgress = event.type === 'collecting' || event.type === 'step-ended';
      if (isProgress && clock() - lastAt < linesEveryMs) return;
      const text = describe(event, clock());
      if (text !== undefined) write(text);
    },
    stop() {},
  };
}

function describeOpened(run: Run, isResumed: boolean): string {
  const what = isResumed ? 'going on with' : 'starting';
  return `${run.day}: ${what} run ${run.id} by ${run.delivery}`;
}

function describe(event: ReviewEvent, now: number): string | undefined {
  switch (event.type) {
    case 'run-opened':
      return describeOpened(event.run, event.isResumed);
    case 'collecting':
      return `collecting: ${formatCount(event.read)} records read`;
    case 'source-notice':
      return `the source has no column ${event.notice.column}: every booking goes without it`;
    case 'collected':
      return `collected: ${formatCount(event.run.counts.accepted)} bookings in ${formatCount(event.run.openSteps)} steps`;
    case 'step-ended': {
      const { delivered, refused, accepted } = event.run.counts;
      return `delivering: ${formatCount(delivered + refused)} of ${formatCount(accepted)} bookings`;
    }
    case 'holding-off':
      return `${event.cause === 'asked' ? 'the service asks for patience' : 'nothing gets through'} (${event.code}): waiting ${formatDuration(event.until - now)}`;
    case 'stopping':
      return `stopping: waiting at most ${formatDuration(event.graceMs)} for the steps in hand`;
    case 'step-claimed':
    case 'settled':
      return undefined;
  }
}
