import type { Booking } from '../booking/booking.js';
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

/** Which hotel a kept line books, as far as it can be told without reading the line. */
export interface HotelOfLine {
  readonly serviceId: number;
  /** Provider and hotel id as they stand in the line, in its form: the same for the same ones. */
  readonly key: string;
}

/** Where a booking is rendered as a line, piece by piece, as UTF-8: a string a line would cost twice the time. */
export interface LineWriter {
  /** What is the same in every line. */
  constant(bytes: Uint8Array): void;
  /** A safe integer from 0 on, in decimal digits. */
  integer(value: number): void;
  /** A text, and what stands before it. */
  field(before: Uint8Array, text: string, form: TextForm): void;
}

/** How a text stands in a line. */
export interface TextForm {
  /** For each ASCII code 1 where the character stands for itself, wherever in the text it is. */
  readonly plain: Uint8Array;
  /** The whole text as it is to be written, where a character is neither plain nor beyond ASCII. */
  escape(text: string): string;
  /** What stands behind the text. */
  readonly after: Uint8Array;
}

/** The table of a form's plain characters. */
export function markPlain(isPlain: (character: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 0x80 }, (_, code) => (isPlain(String.fromCharCode(code)) ? 1 : 0));
}
