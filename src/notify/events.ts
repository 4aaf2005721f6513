import type pino from 'pino';
import { hasPassed } from '../base/elapsed.js';
import { type EventKind, type EventOf, event } from '../base/events.js';
import { print } from '../base/foreign-text.js';
import { caseEvents, verdictMailEvents, watchEvents } from '../cases/events.js';
import { exportEvents, syncEvents } from '../mappings/events.js';
import { reviewEvents } from '../review/events.js';
import { schedulerEvents } from '../schedule/events.js';

/** A receiver did not accept a message, or could not be reached. It is tried again. */
export const sendingEvents = {
  /** A command says it once, at its end. */
  'message-not-sent': event<{ readonly channel: string; readonly code: string }>({
    level: 'warn',
    log: 'notification not confirmed',
    fields: ({ channel, code }) => ({ channel, code }),
  }),
};

export type SendingEvent = EventOf<typeof sendingEvents>;

/**
 * Everything that a process reports while it works: the closed union of the events of all its parts. An event holds neither
 * guest data nor a text of the service. Whatever happens once is reported once, by the process in which it happened.
 */
export type HotelReviewEvent = EventOf<typeof kinds>;

const kinds = {
  ...reviewEvents,
  ...syncEvents,
  ...caseEvents,
  ...watchEvents,
  ...verdictMailEvents,
  ...exportEvents,
  ...sendingEvents,
  ...schedulerEvents,
};

function kindOf({ type }: HotelReviewEvent): EventKind<HotelReviewEvent> {
  return kinds[type] as EventKind<object>;
}

/** The words for a person who watches; undefined for an event that needs none. */
export function describe(event: HotelReviewEvent, now: number): string | undefined {
  return kindOf(event).words?.(event, now);
}

export type NotifyAll = (event: HotelReviewEvent) => void;

/** Watches the events. The work neither waits for it nor fails with it. */
export type Observer = (event: HotelReviewEvent) => void | Promise<void>;

/**
 * Hands each event to every observer, in their order; the list may grow.
 *
 * @param onFault called for the first failure of each observer; further ones would only repeat it
 */
export function createNotify(observers: readonly Observer[], onFault: (error: unknown) => void): NotifyAll {
  const failed = new Set<Observer>();

  function report(observer: Observer, error: unknown): void {
    if (failed.has(observer)) return;
    failed.add(observer);
    try {
      onFault(error);
    } catch {
      // Even if this can't be reported, the work takes precedence.
    }
  }

  return (event) => {
    for (const observer of observers) {
      try {
        const result: unknown = observer(event);
        // TypeScript accepts a function that returns anything where one that returns nothing is expected.
        if (result instanceof Promise) result.catch((error: unknown) => report(observer, error));
      } catch (error) {
        report(observer, error);
      }
    }
  };
}

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

export type LogLevel = (typeof logLevels)[number];

export type Log = Pick<pino.Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'>;

/** Used if no log was requested. */
export const silentLog: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Writes JSON lines. Callers must keep guest data and secrets out of them. */
export async function openLog(level: LogLevel, stream: NodeJS.WritableStream, worker: string): Promise<Log> {
  // Loaded on demand: most commands write no log.
  const { default: pino } = await import('pino');
  const log: Log = pino(
    { level, base: { worker }, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line) => void print(stream, line) },
  );
  return log;
}

const progressEveryMs = 60_000;

/** Writes events as JSON lines, with run, day and step where they have one. Of steps that are done, it counts those of a minute. */
export function createLogObserver(log: Log, clock: () => number): (event: HotelReviewEvent) => void {
  const done = new Map<string, { day: string; steps: number; since: number; until: number }>();

  /** A run may end in another process: what was counted here is told with the next event, whatever that is about. */
  function tellDone(event: HotelReviewEvent, at: number): void {
    for (const [run, { day, steps, since, until }] of done) {
      const hasEnded = event.type === 'settled' && event.run.id === run;
      if (!hasEnded && !hasPassed(progressEveryMs, { since, now: at })) continue;
      done.delete(run);
      log.info({ run, day, steps, seconds: Math.round((until - since) / 1000) }, 'steps done');
    }
  }

  return (event) => {
    const at = clock();
    if (event.type === 'step-ended' && event.outcome === 'done') {
      const { id, day } = event.run;
      const { steps, since } = done.get(id) ?? { steps: 0, since: at };
      done.set(id, { day, steps: steps + 1, since, until: at });
    }
    tellDone(event, at);
    const { level, log: text, fields } = kindOf(event);
    log[typeof level === 'string' ? level : level(event)](
      { ...fields?.(event) },
      typeof text === 'string' ? text : text(event),
    );
  };
}
