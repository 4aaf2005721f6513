import type { BookingForm, BookingForms } from '../booking/line-form.js';
import type { Run } from '../rules/run.js';
import type { Claimed, Outcome, PlannedStep } from '../rules/step.js';

/**
 * How a run reaches the service: how bookings are stored, which steps a collected day becomes, how each step is
 * performed.
 */
export interface Delivery extends BookingForms {
  /** @param bookings the number of collected bookings by form */
  plan(bookings: Readonly<Record<BookingForm, number>>): PlannedStep[];
  /** @throws the signal's reason when aborted during a call */
  perform(claim: Claimed, signal: AbortSignal): Promise<Outcome>;
  /**
   * Whether a result of the run is there that was not judged yet. A look at it changes nothing. Absent where none comes.
   *
   * @throws SftpError
   */
  hasNewResult?(run: Run, signal: AbortSignal): Promise<boolean>;
}
