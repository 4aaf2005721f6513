import type { Booking } from '../booking/booking.js';
import type { DeliveryKind } from './run.js';
import type { BookingForm, Evidence, PlannedStep, Step } from './step.js';

/** What performing a step came to, before the runner decides what follows from it. */
export type StepOutcome =
  | { readonly kind: 'done'; readonly evidence: Evidence }
  | {
      readonly kind: 'retryable';
      readonly evidence: Evidence;
      readonly outcomeUnknown: boolean;
      readonly retryAfterMs?: number | undefined;
      readonly refusedWhenSpent: boolean;
    }
  | { readonly kind: 'refused'; readonly evidence: Evidence }
  | { readonly kind: 'fatal'; readonly evidence: Evidence };

/** How a run reaches the service: what a booking is kept as, which steps a collected day becomes, how each is done. */
export interface Delivery {
  readonly kind: DeliveryKind;
  /** The form in which a booking is kept and sent. */
  formOf(booking: Booking): BookingForm;
  /** One line, without a line end. */
  render(booking: Booking, form: BookingForm): string;
  /** @param bookings how many bookings were collected in each form */
  plan(bookings: Readonly<Record<BookingForm, number>>): PlannedStep[];
  /** Throws the signal's reason when stopped in mid-call. */
  perform(step: Step, options: { readonly signal: AbortSignal }): Promise<StepOutcome>;
}
