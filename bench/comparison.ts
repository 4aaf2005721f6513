/**
 * One row of the table: a piece of work, done by this product and by what people would use instead, in turn on one
 * stage.
 */
export interface Comparison {
  /** Short and unabbreviated, as `npm run bench -- --only NAME` takes it: `file-run`, `upload-80-mb`. */
  readonly name: string;
  /** What is done, for the table. */
  readonly work: string;
  /** What it is held against, for the table. */
  readonly against: string;
  /** What a value of this comparison counts. */
  readonly unit: 's' | 'ms' | 'MB' | 'MB/s' | 'bookings/s' | 'bytes a booking';
  readonly reach: Reach;
  /** How often each side has its turn; five if not given, where rounds are cheap more. */
  readonly rounds?: number;
  /** Why it can't be tried on this machine, and how to get what is missing; undefined when it can. */
  findObstacle(): string | undefined;
  /** Starts servers and makes inputs, in a folder of its own; nothing of it is timed. */
  prepare(scale: Scale): Promise<Stage>;
}

/** `full` as the table says it; `quick` the same in small, so that all of them together end in two minutes. */
export type Scale = 'full' | 'quick';

export interface Reach {
  /** Of the medians, ours through the other's. */
  readonly ratio?: { readonly atMost: number } | { readonly atLeast: number };
  /** Of our median, or of our peak, whatever the other side does. */
  readonly ours?: { readonly atMost: number; readonly unit: 's' | 'ms' | 'MB' };
}

export interface Stage {
  readonly ours: Contestant;
  /** None where our own figure is held against a limit alone. */
  readonly other?: Contestant;
  /** What belongs to this comparison and to no other: sizes, ciphers, what was taken off both sides. */
  readonly notes?: readonly string[];
  /** Stops servers, removes the folder. */
  close(): Promise<void>;
}

export interface Contestant {
  readonly name: string;
  /** One turn, from nothing: what the last one left is cleared before the clock starts. */
  run(): Promise<Measurement>;
}

export interface Measurement {
  /** In the comparison's unit. */
  readonly value: number;
  readonly cpuSeconds?: number;
  readonly peakMb?: number;
}
