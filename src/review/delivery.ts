import type { BatchStream, Sending } from '../booking/sending.js';
import type { Run } from '../rules/run.js';
import type { Claimed, Outcome, PlannedStep } from '../rules/step.js';

/** How a run reaches the service: which steps a collected day becomes, and how each is performed. */
export interface Delivery extends Sending {
  /** What the master id is called in JSON, and in the review file. */
  readonly masterIdName: string;
  readonly masterIdColumn?: string;
  /** @param bookings the number of collected bookings in each stream */
  plan(bookings: Readonly<Record<BatchStream, number>>): PlannedStep[];
  /** @throws the signal's reason when aborted during a call */
  perform(claim: Claimed, signal: AbortSignal): Promise<Outcome>;
  /**
   * Whether a result of the run is there that was not judged yet. A look at it changes nothing. Absent where none comes.
   *
   * @throws SftpError
   */
  hasNewResult?(run: Run, signal: AbortSignal): Promise<boolean>;
}
