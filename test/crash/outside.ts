import { createSeededRandom } from '../../src/sandbox/common/random.js';

/** What happened, in order. A commit ends the uncertainty about what was done before it. */
export type Happening =
  | { readonly kind: 'commit' }
  | {
      readonly kind: 'call';
      /** What it sent for review. */
      readonly references: readonly string[];
      readonly isAccepted: boolean;
      /** The service gave a clear answer. */
      readonly isAnswered: boolean;
      /** Its result was there already. */
      readonly isNeedless: boolean;
    }
  | { readonly kind: 'published'; readonly path: string; readonly bytes: string }
  | { readonly kind: 'message'; readonly id: string; readonly says: string }
  /** The step that the ledger knows as begun and not ended, if any. */
  | { readonly kind: 'death'; readonly begun: BegunStep | undefined };

export interface BegunStep {
  readonly name: string;
  readonly attempt: number;
  /** Of its bookings. */
  readonly references: readonly string[];
}

/** What a process works in, and what outlives it. */
export interface Outside {
  readonly log: Happening[];
  readonly clock: () => number;
  /** Lets time pass until then; never back. */
  reach(instant: number): void;
  readonly random: () => number;
  nextId(): string;
}

export function createOutside(startsAt: number): Outside {
  const log: Happening[] = [];
  let now = startsAt;
  let ids = 0;
  return {
    log,
    clock: () => now,
    reach(instant) {
      now = Math.max(now, instant);
    },
    random: createSeededRandom(1),
    nextId() {
      ids += 1;
      return `message-${ids}`;
    },
  };
}
