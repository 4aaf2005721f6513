import type { BookingWarning, RejectReason } from '../booking/normalise.js';
import type { NewCanary } from './canary.js';
import type { GuestNames } from './guest-names.js';
import type { KeptColumns } from './kept-columns.js';
import type { Run, Trigger } from './run.js';
import type { UnreadableReason } from './source.js';
import type { BookingForm, PlannedStep } from './step.js';
import type { Volume, VolumeComparison } from './volume.js';

export interface CollectStart {
  readonly source: string;
  readonly at: number;
  /** How many bookings every stored batch but the last of its form holds. */
  readonly batchSize: number;
  /** Whether bookings are compared with the local copy of the mappings: then the run counts its suspects. */
  readonly comparesMappings?: boolean;
  /** In which form names are stored; unchanged by default. */
  readonly guestNames?: GuestNames;
}

/** One collect, from its first record to the plan. */
export interface Collect {
  /** Stores a chunk and updates the run's counts in one transaction, so that the sums hold at any moment. */
  store(chunk: CollectedChunk): Promise<void>;
  /** True if that stored batch contains exactly this line, given without its line feed. @throws FencedError */
  holds(form: BookingForm, batch: number, line: Buffer): Promise<boolean>;
  /** Stores how many bookings the day has by provider, and how they compare with good days. */
  noteVolume(volume: CollectedVolume): Promise<void>;
  /** Ends the collect and stores the plan, in one transaction. */
  finish(plan: CollectedPlan): Promise<Run>;
}

export interface CollectedPlan {
  readonly steps: readonly PlannedStep[];
  /** Sent with the bookings. */
  readonly canary?: NewCanary | undefined;
  readonly at: number;
}

export interface CollectedVolume extends Pick<Volume, 'providers'> {
  /** The number of bookings of the whole day, if the run stores only a part of them. */
  readonly accepted?: number;
  readonly comparison?: VolumeComparison;
  /** When they were compared, epoch milliseconds. */
  readonly at: number;
}

export interface CollectedChunk {
  readonly batches: readonly CollectedBatch[];
  readonly duplicates: number;
  readonly filtered: number;
  readonly rejects: readonly Reject[];
  readonly warnings: readonly ReasonCount[];
}

export interface CollectedBatch {
  readonly form: BookingForm;
  readonly number: number;
  /** One rendered booking per line, each ended by a line feed. */
  readonly lines: Buffer;
  /** The hash of each line's booking reference: see `hashReference`. */
  readonly referenceHashes: ArrayLike<number>;
  /** The keys by which the stay of each line can be found; without them none can. */
  readonly stays?: StayKeys;
  /** In the order of their places. */
  readonly suspects?: readonly Suspect[];
  /** With a row for each line. */
  readonly kept?: KeptColumns;
}

/** A `StayKey` per line. */
export interface StayKeys {
  readonly hotelHashes: ArrayLike<number>;
  readonly lastDays: ArrayLike<number>;
}

/** A booking that was flagged by comparing it with the local copy of the mappings. It is sent anyway. */
export interface Suspect {
  /** Among the batch's lines, counted from 0. */
  readonly place: number;
  readonly reason: SuspectReason;
  /** The master hotel of its provider's hotel in the copy; absent if the mapping was deleted. */
  readonly serviceId?: number;
  /** When the mapping moved, epoch milliseconds; absent if it never did. */
  readonly movedAt?: number;
}

/** `other-master`: in the copy it is another master hotel. `moved`: its mapping changed in the last few days. */
export type SuspectReason = 'other-master' | 'moved';

export type RejectCode = RejectReason | UnreadableReason | 'not-for-the-file';

/** A run's first rejects are listed; further ones are counted, and `show` finds them by their reference. */
export const rejectsListed = 10_000;

export interface Reject {
  readonly place: number;
  readonly reason: RejectCode;
  readonly reference?: string;
  /** The field that made it unfit, under the service's name. */
  readonly field?: string;
  /** What the field held, never a guest's name. */
  readonly value?: string;
}

/** A reject as people and programs see it, with null for what is unknown. */
export function rejectToJson({ place, reason, reference, field, value }: Reject) {
  return { place, reason, reference: reference ?? null, field: field ?? null, value: value ?? null };
}

/** Its columns in a file. */
export const rejectColumns = Object.keys(rejectToJson({ place: 0, reason: 'service-id-missing' }));

export interface ReasonCount {
  readonly reason: RejectCode | BookingWarning | 'absent-column' | 'earlier-days-not-compared';
  readonly count: number;
  /** The place of its first occurrence, as the source counts. */
  readonly firstPlace?: number;
}

/** An opaque position in what other runs have delivered. */
export type DeliveredCursor = string & { readonly ofDelivered: unique symbol };

export interface DeliveredLines {
  readonly cursor: DeliveredCursor;
  readonly form: BookingForm;
  /** Of the run that delivered them. */
  readonly trigger: Trigger;
  /** In which form the names are. */
  readonly guestNames: GuestNames;
  /** Each ended by a line feed. */
  readonly lines: Buffer;
}
