import { randomUUID } from 'node:crypto';
import { link, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { createLetterWriter } from './letter-text.js';
import type { World } from './world.js';

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

export interface OutboxOptions {
  /** Made when it is not there, with mode 0700: letters name guests. */
  readonly folder: string;
  readonly from: string;
  readonly to: string;
  readonly world: World;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** Creates an outbox whose files are named by the time and a number: `20261120T140307.123Z-0001.eml`, mode 0600. */
export function createOutbox({ folder, from, to, world, clock }: OutboxOptions): Outbox {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const writeText = createLetterWriter(world);
  let letters = 0;

  /** Puts a finished letter under the next free name: another process may use the folder too. */
  async function post(unsent: string, stamp: string): Promise<string> {
    for (;;) {
      letters += 1;
      const path = join(folder, `${stamp}-${String(letters).padStart(4, '0')}.eml`);
      try {
        await link(unsent, path);
        return path;
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      }
    }
  }

  return {
    async notify({ about, incorrect, count = incorrect.length }) {
      const now = new Date(clock());
      const { message } = await transport.sendMail({
        from,
        to,
        date: now,
        messageId: `<${randomUUID()}@sandbox.invalid>`,
        subject: `Incorrect hotel mappings: ${count === 1 ? '1 booking is' : `${count} bookings are`} affected`,
        // What bookings say stands in the text alone, so there is no header that they could reach.
        text: writeText({ about, incorrect, count }),
        textEncoding: 'quoted-printable',
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const unsent = join(folder, `.${randomUUID()}.part`);
      try {
        await writeFile(unsent, message, { flag: 'wx', mode: 0o600 });
        return { path: await post(unsent, stampOf(now)), about };
      } finally {
        await rm(unsent, { force: true });
      }
    },
  };
}

/** 20261120T140307.123Z */
function stampOf(instant: Date): string {
  return instant.toISOString().replaceAll(/[-:]/g, '');
}
