import type { BookingWarning, RejectReason } from '../booking/normalise.js';
import type { Right } from './ledger.js';
import type { Run } from './run.js';
import type { UnreadableReason } from './source.js';
import type { BookingForm, PlannedStep } from './step.js';

/** What collecting a day writes to. */
export interface Collecting {
  /** Starts collecting from nothing: what an earlier, interrupted collect of this run left is removed. @throws FencedError */
  beginCollect(right: Right, collect: CollectStart): Promise<Collect>;
}

/** What earlier runs of a day have sent, for a run that sends only what is new. */
export interface DeliveredBookings {
  /**
   * What other runs of the same day have delivered, while it is kept with its guests' names: the next chunk after the
   * cursor, one stored batch per chunk; undefined at the end.
   */
  nextDelivered(runId: string, after?: DeliveredCursor): Promise<DeliveredLines | undefined>;
}

export interface CollectStart {
  readonly source: string;
  readonly at: number;
  /** How many bookings every stored batch but the last of its form holds. */
  readonly batchSize: number;
  /** Whether bookings are compared with the local copy of the mappings: then the run counts its suspects. */
  readonly comparesMappings?: boolean;
}

/** One collect, from its first record to the plan. */
export interface Collect {
  /** Stores a chunk in one transaction; the run's counts rise with it, so that the sums hold at any moment. */
  store(chunk: CollectedChunk): Promise<void>;
  /** True when that stored batch has exactly this line. @throws FencedError */
  holds(form: BookingForm, batch: number, line: string): Promise<boolean>;
  /** Ends the collect and writes down the plan, in one transaction. */
  finish(plan: { readonly steps: readonly PlannedStep[]; readonly at: number }): Promise<Run>;
}

export interface CollectedChunk {
  readonly batches: readonly CollectedBatch[];
  readonly duplicates: number;
  readonly rejects: readonly Reject[];
  readonly warnings: readonly ReasonCount[];
}

export interface CollectedBatch {
  readonly form: BookingForm;
  readonly number: number;
  /** One rendered booking a line, each ended by a line feed. */
  readonly lines: Buffer;
  /** Of each line, the hash of its booking reference: see `hashReference`. */
  readonly referenceHashes: readonly number[];
  /** In the order of their places. */
  readonly suspects?: readonly Suspect[];
}

/** A booking that was flagged by comparing it with the local copy of the mappings. It is sent anyway. */
export interface Suspect {
  /** Among the batch's lines, counted from 0. */
  readonly place: number;
  readonly reason: SuspectReason;
  /** The master hotel that the copy has its provider's hotel under; absent where the mapping was deleted. */
  readonly serviceId?: number;
  /** When the mapping moved, epoch milliseconds; absent if it never did. */
  readonly movedAt?: number;
}

/**
 * `other-master`: the copy has it under another master hotel. `moved`: its mapping changed within the last days.
 * `filled-in`: its ServiceId was taken from the copy, so that comparing it with the copy says nothing.
 */
export type SuspectReason = 'other-master' | 'moved' | 'filled-in';

export type RejectCode = RejectReason | UnreadableReason | 'not-for-the-file';

export interface Reject {
  readonly place: number;
  readonly reason: RejectCode;
  readonly reference?: string;
}

export interface ReasonCount {
  readonly reason: RejectCode | BookingWarning | 'absent-column';
  readonly count: number;
  /** The first place it was met at, in the source's own count. */
  readonly firstPlace?: number;
}

/** Where one stands in what other runs have delivered: opaque, comparable to nothing. */
export type DeliveredCursor = string & { readonly ofDelivered: unique symbol };

export interface DeliveredLines {
  readonly cursor: DeliveredCursor;
  readonly form: BookingForm;
  /** Each ended by a line feed. */
  readonly lines: Buffer;
}
