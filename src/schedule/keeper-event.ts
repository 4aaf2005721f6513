import type { Duty } from './duties.js';

/** What the keeper does, told as it does it. No event holds guest data. */
export type KeeperEvent =
  | { readonly type: 'duty-begun'; readonly duty: Duty }
  | { readonly type: 'duty-ended'; readonly duty: Duty }
  /** Another process works on that day. */
  | { readonly type: 'day-busy'; readonly duty: Duty }
  /** The review threw; the duty stays owed, and is looked at again. */
  | { readonly type: 'duty-failed'; readonly duty: Duty; readonly error: unknown }
  /** The ledger could not be asked what is owed: it is asked again. */
  | { readonly type: 'look-failed'; readonly error: unknown }
  /** A slot passed that the schedule did not tell of. */
  | { readonly type: 'slot-untold'; readonly slot: Date };

export type NotifyKeeper = (event: KeeperEvent) => void;
