import type { Log } from '../src/cli/log.js';
import { createLogObserver } from '../src/cli/log-observer.js';
import type { TerminalProgress } from '../src/cli/terminal-progress.js';
import { createNotify, type NotifyAll, type Observer } from '../src/events/events.js';

export interface ObserverParts {
  readonly progress: TerminalProgress;
  /** Log lines take the place of the progress. */
  readonly log: Log | undefined;
  /** Where metrics are served. */
  readonly counters: { readonly notify: Observer } | undefined;
  /** Tells the heartbeat service how last night went. */
  readonly heartbeat: { readonly notify: Observer } | undefined;
  readonly onFault: (error: unknown) => void;
}

/** All observers of a process's events. A new one is a file of its own and a line here. */
const observers: readonly ((parts: ObserverParts) => Observer | undefined)[] = [
  ({ progress, log }) => (log ? undefined : progress.notify),
  ({ log }) => log && createLogObserver(log),
  ({ counters }) => counters?.notify,
  ({ heartbeat }) => heartbeat?.notify,
];

export function openObservers(parts: ObserverParts): NotifyAll {
  return createNotify(
    observers.flatMap((open) => open(parts) ?? []),
    parts.onFault,
  );
}
