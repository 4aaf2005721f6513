import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type BookedHotel, createOutbox } from '../../src/sandbox/outbox/outbox.js';
import { createWorld } from '../../src/sandbox/world/world.js';

/** An e-mail as its reader sees it. */
interface ReadEmail {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface EmailReader {
  readonly name: string;
  readonly needs: string | undefined;
  read(path: string): Promise<ReadEmail>;
}

export const about = 'VerifyMappings/112026/20112026.csv';
export const from = '"Mapping Service" <service@example.com>';
export const to = 'account@example.com';
export const now = Date.UTC(2026, 10, 20, 14, 3, 7, 123);
export const world = createWorld({ seed: 4, hotels: 60 });

export async function openOutbox(options: Partial<Parameters<typeof createOutbox>[0]> = {}) {
  const parent = await mkdtemp(join(tmpdir(), 'outbox-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  const folder = join(parent, 'emails', 'outbox');
  return { folder, outbox: createOutbox({ folder, from, to, world, clock: () => now, ...options }) };
}

function mapping(place: number) {
  const found = world.mappings[place];
  const hotel = world.hotels.find(({ serviceId }) => serviceId === found?.serviceId);
  if (!found || !hotel) throw new Error(`the world has no mapping ${place}`);
  return {
    ...found,
    hotel,
    described: `${hotel.serviceId}, ${hotel.name} (${hotel.country})`,
  };
}

export const [booked, real] = [mapping(0), mapping(20)];
/** Booked as one hotel, while the provider's hotel is another. */
export const wrong: BookedHotel = {
  serviceId: booked.serviceId,
  bookingReferenceId: 'BR-1042',
  bookingClientName: 'Wang 伟, "Zoë" = Åkesson',
  providerName: real.providerName,
  providerHotelId: real.providerHotelId,
  checkInDate: '2026-11-20',
  checkOutDate: '2026-11-22',
};

/** What the outbox writes, as one of its readers sees it. */
export function describeReadEmails({ name, needs, read }: EmailReader): void {
  describe(`an e-mail, read with ${name}`, () => {
    beforeEach(({ skip }) => skip(needs !== undefined, needs));

    it('says to whom it is, from whom, of when and about how many bookings', async () => {
      const { outbox } = await openOutbox();
      const { headers } = await read(await outbox.notify({ about, incorrect: [wrong, wrong, wrong] }));
      expect(headers).toMatchObject({
        subject: 'Incorrect hotel mappings: 3 bookings are affected',
        to,
        'mime-version': '1.0',
        'message-id': expect.stringMatching(/^<[^@\s]+@sandbox\.invalid>$/),
      });
      expect(headers.from?.replaceAll('"', '')).toBe('Mapping Service <service@example.com>');
      expect(Date.parse(headers.date ?? '')).toBe(Math.floor(now / 1_000) * 1_000);
      expect(headers['content-type']).toMatch(/^text\/plain; charset="?utf-8"?$/i);
    });

    it('tells of each booking what was booked and what it really is', async () => {
      const { outbox } = await openOutbox();
      const { headers, text } = await read(await outbox.notify({ about, incorrect: [wrong] }));
      expect(headers.subject).toBe('Incorrect hotel mappings: 1 booking is affected');
      expect(text).toBe(
        [
          `The review of ${about} found 1 booking whose provider hotel is not the hotel that was booked. ` +
            'Please look after the guests before they arrive.',
          '',
          'BR-1042',
          '  Guest:     Wang 伟, "Zoë" = Åkesson',
          '  Stay:      2026-11-20 to 2026-11-22',
          `  Provider:  ${real.providerName}, hotel ${real.providerHotelId}`,
          `  Booked:    ${booked.described}`,
          `  Really is: ${real.described}`,
          '',
        ].join('\n'),
      );
    });

    it('says what a booking left out, and which hotels the world does not know', async () => {
      const { outbox } = await openOutbox();
      const email = await outbox.notify({
        about,
        incorrect: [{ serviceId: 7, providerName: 'Nobody', providerHotelId: '0' }],
      });
      const { text } = await read(email);
      expect(text.split('\n').slice(2)).toEqual([
        '(no reference)',
        '  Guest:     (not given)',
        '  Stay:      (not given) to (not given)',
        '  Provider:  Nobody, hotel 0',
        '  Booked:    7, a hotel that the service does not know',
        '  Really is: a hotel that the service does not know',
        '',
      ]);
    });

    it('has no header and no line that a booking could have put there', async () => {
      const { outbox } = await openOutbox();
      const forged = '\r\nBcc: everyone@example.com\r\n\r\nBR-1\u2028BR-2\n.\n';
      const incorrect = [
        {
          ...wrong,
          bookingReferenceId: `BR${forged}`,
          bookingClientName: `Ana${forged}`,
          providerName: forged,
          providerHotelId: forged,
          checkInDate: forged,
          checkOutDate: forged,
        },
      ];
      const { headers, text } = await read(await outbox.notify({ about: `it${forged}`, incorrect }));
      expect(Object.keys(headers).toSorted()).toEqual([
        'content-transfer-encoding',
        'content-type',
        'date',
        'from',
        'message-id',
        'mime-version',
        'subject',
        'to',
      ]);
      expect(text.split('\n').map((line) => line.slice(0, 12).trim())).toEqual([
        'The review o',
        '',
        'BR Bcc: ever',
        'Guest:',
        'Stay:',
        'Provider:',
        'Booked:',
        'Really is:',
        '',
      ]);
      expect(text).toContain('  Guest:     Ana Bcc: everyone@example.com BR-1 BR-2 . \n');
    });

    it('lists a thousand bookings and counts the rest', async () => {
      const { outbox } = await openOutbox();
      const incorrect = Array.from({ length: 1_001 }, (_, place) => ({
        ...wrong,
        bookingReferenceId: `BR-${place}`,
      }));
      const references = (text: string) => text.split('\n').filter((line) => line.startsWith('BR-'));
      const whole = await read(await outbox.notify({ about, incorrect: incorrect.slice(1) }));
      expect(references(whole.text)).toHaveLength(1_000);
      expect(whole.text).not.toContain('more');
      const cut = await read(await outbox.notify({ about, incorrect }));
      expect(references(cut.text)).toEqual(
        incorrect.slice(0, 1_000).map((booking) => booking.bookingReferenceId),
      );
      expect(cut.text).toMatch(/\n\n… and 1 more\.\n$/);
      const counted = await read(await outbox.notify({ about, incorrect, count: 200_000 }));
      expect(counted.headers.subject).toBe('Incorrect hotel mappings: 200000 bookings are affected');
      expect(counted.text).toMatch(/\n\n… and 199000 more\.\n$/);
    });
  });
}
