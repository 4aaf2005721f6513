/**
 * One row of the table: a task performed alternately by this product and by an alternative, in the same environment.
 */
export interface Comparison {
  /** Short, without abbreviations, for `npm run bench -- --only NAME`: `file-run`, `upload-80-mb`. */
  readonly name: string;
  /** The task, for the table. */
  readonly work: string;
  /** The alternative, for the table. */
  readonly against: string;
  /** The unit of its values. */
  readonly unit: 's' | 'ms' | 'MB' | 'MB/s' | 'bookings/s' | 'bytes a booking';
  readonly reach: Reach;
  /** Number of rounds, default five; more where rounds are cheap. */
  readonly rounds?: number;
  /** Why it cannot run on this machine, and how to fix it; undefined when it can. */
  findObstacle(): string | undefined;
  /** Starts servers and creates inputs in a separate folder; not timed. */
  prepare(scale: Scale): Promise<Stage>;
}

/** `full` as in the table; `quick` with small inputs, so that all comparisons take two minutes. */
export type Scale = 'full' | 'quick';

export interface Reach {
  /** Our median divided by the other's. */
  readonly ratio?: { readonly atMost: number } | { readonly atLeast: number };
  /** Limit of our median or peak, whatever the other side does. */
  readonly ours?: { readonly atMost: number; readonly unit: 's' | 'ms' | 'MB' };
}

export interface Stage {
  readonly ours: Contestant;
  /** Absent where our figure only has a limit. */
  readonly other?: Contestant;
  /** Specific to this comparison: sizes, ciphers, times subtracted from both sides. */
  readonly notes?: readonly string[];
  /** Stops the servers and removes the folder. */
  close(): Promise<void>;
}

export interface Contestant {
  readonly name: string;
  /** One turn from a clean state: leftovers of the previous turn are removed before the clock starts. */
  run(): Promise<Measurement>;
}

export interface Measurement {
  /** In the comparison's unit. */
  readonly value: number;
  readonly cpuSeconds?: number;
  readonly peakMb?: number;
}
