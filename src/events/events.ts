import type { WatchEvent } from '../cases/follow-mappings.js';
import type { CaseEvent } from '../cases/open-cases.js';
import type { CanaryEvent } from '../ledger/canaries.js';
import type { ExportEvent } from '../mappings/export/await-export.js';
import type { SyncEvent } from '../mappings/sync-events.js';
import type { SendingEvent } from '../notifications/send-messages.js';
import type { ReviewEvent } from '../review/events.js';
import type { SchedulerEvent } from '../schedule/scheduler.js';
import type { VerdictMailEvent } from '../verdict-mails/take-mail.js';

/**
 * Everything that a process reports while it works: the closed union of the events of all its parts. An event holds neither
 * guest data nor a text of the service. Whatever happens once is reported once, by the process in which it happened.
 */
export type HotelReviewEvent =
  | ReviewEvent
  | SyncEvent
  | CaseEvent
  | WatchEvent
  | VerdictMailEvent
  | CanaryEvent
  | ExportEvent
  | SendingEvent
  | SchedulerEvent;

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
