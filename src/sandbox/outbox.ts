import { createLetterPost, type LetterPostOptions } from './letter-post.js';
import { createLetterWriter } from './letter-text.js';
import type { HotelDirectory } from './world.js';

/** A booking whose provider hotel is not the master hotel that was booked; what it did not say is absent. */
export interface IncorrectMapping {
  readonly serviceId: number;
  readonly bookingReferenceId?: string;
  readonly bookingClientName?: string;
  readonly providerName?: string;
  readonly providerHotelId?: string;
  /** YYYY-MM-DD */
  readonly checkInDate?: string;
  /** YYYY-MM-DD */
  readonly checkOutDate?: string;
}

export interface Letter {
  readonly path: string;
  readonly about: string;
}

/** What a letter tells. */
export interface Notice {
  /** What was reviewed: "the request body of 14:03:07" or "VerifyMappings/112026/20112026.csv". */
  readonly about: string;
  /** The affected bookings, or at least the first `listedBookings` of them. */
  readonly incorrect: readonly IncorrectMapping[];
  /** How many there are, where not all of them are given. */
  readonly count?: number;
}

/** Where the e-mails lie that the service would have sent. */
export interface Outbox {
  /**
   * Writes a letter as an `.eml` file, whole or not at all. Letters that are written at once don't disturb each other.
   *
   * @throws the system's error when the folder can't be written
   */
  notify(notice: Notice): Promise<Letter>;
}

export interface OutboxOptions extends LetterPostOptions {
  readonly to: string;
  readonly world: HotelDirectory;
}

export function createOutbox({ to, world, ...options }: OutboxOptions): Outbox {
  const letters = createLetterPost(options);
  const writeText = createLetterWriter(world);
  return {
    async notify({ about, incorrect, count = incorrect.length }) {
      const path = await letters.post({
        to,
        subject: `Incorrect hotel mappings: ${count === 1 ? '1 booking is' : `${count} bookings are`} affected`,
        // What bookings say stands in the text alone, so there is no header that they could reach.
        text: writeText({ about, incorrect, count }),
      });
      return { path, about };
    },
  };
}
