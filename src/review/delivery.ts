import type { Booking } from '../booking/booking.js';
import type { LineWriter } from './line-writer.js';
import type { DeliveryKind, Run } from './run.js';
import type { BookingForm, Claim, Findings, PlannedStep } from './step.js';

/** What performing a step came to, before the runner decides what follows from it. */
export type StepOutcome =
  | (Findings & { readonly kind: 'done' })
  | (Findings & {
      readonly kind: 'retryable';
      readonly outcomeUnknown: boolean;
      readonly retryAfterMs?: number | undefined;
      readonly refusedWhenSpent: boolean;
    })
  /** What it waits for is not there yet: it looks again at that instant, and spends no try. */
  | (Findings & { readonly kind: 'waiting'; readonly until: number })
  /** What it waits for didn't come in time. */
  | (Findings & { readonly kind: 'overdue' })
  | (Findings & { readonly kind: 'refused' })
  | (Findings & {
      readonly kind: 'fatal';
      /** What a person is to do. */
      readonly advice: string;
    });

/** What a booking is kept as: all that reading a day needs to know of its delivery. */
export interface BookingForms {
  readonly kind: DeliveryKind;
  /** The form in which a booking is kept and sent; undefined for one that this delivery doesn't carry. */
  formOf(booking: Booking): BookingForm | undefined;
  /** Writes the booking as one line, without a line end. */
  render(booking: Booking, form: BookingForm, line: LineWriter): void;
}

export interface PerformOptions {
  readonly run: Run;
  /** The lines of the stored batch that the step's slice is of. */
  readonly lines?: Buffer | undefined;
  readonly signal: AbortSignal;
}

/** How a run reaches the service: what a booking is kept as, which steps a collected day becomes, how each is done. */
export interface Delivery extends BookingForms {
  /** @param bookings how many bookings were collected in each form */
  plan(bookings: Readonly<Record<BookingForm, number>>): PlannedStep[];
  /** Throws the signal's reason when stopped in mid-call. */
  perform(claim: Claim, options: PerformOptions): Promise<StepOutcome>;
}
