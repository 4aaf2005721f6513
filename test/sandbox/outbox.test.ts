import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { createOutbox } from '../../src/sandbox/outbox/outbox.js';
import { decodeQuotedPrintable } from '../support/email.js';
import {
  about,
  booked,
  describeReadEmails,
  type EmailReader,
  from,
  now,
  openOutbox,
  real,
  to,
  world,
  wrong,
} from './outbox-emails.js';

/** Reads what the outbox writes: plain text in quoted-printable, headers in ASCII. */
const plainReader: EmailReader = {
  name: 'a decoder of our own',
  needs: undefined,
  async read(path) {
    const email = await readFile(path, 'latin1');
    const [head = '', ...paragraphs] = email.split('\r\n\r\n');
    const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    expect(headers['content-transfer-encoding']).toBe('quoted-printable');
    return { headers, text: decodeQuotedPrintable(paragraphs.join('\r\n\r\n')) };
  },
};

describeReadEmails(plainReader);

describe('the other forms of an e-mail', () => {
  const hostile = { ...wrong, bookingReferenceId: '<b>"BR-7"</b>\r\n', bookingClientName: '=1+1,"x"' };

  it('a table in HTML has a row for each booking, and escapes what bookings say', async () => {
    const { outbox } = await openOutbox({ form: 'table' });
    const { headers, text } = await plainReader.read(
      await outbox.notify({ about, incorrect: [wrong, hostile], count: 5 }),
    );
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text.match(/<tr><td>/g)).toHaveLength(2);
    expect(text).toContain('<tr><td>BR-1042</td><td>Wang 伟, &quot;Zoë&quot; = Åkesson</td>');
    expect(text).toContain('<tr><td>&lt;b&gt;&quot;BR-7&quot;&lt;/b&gt; </td><td>');
    expect(text).toContain(real.described.replaceAll('&', '&amp;'));
    expect(text).toContain('<p>… and 3 more.</p>');
  });

  it('an attached CSV file has the fields as the specification names them', async () => {
    const { outbox } = await openOutbox({ form: 'csv' });
    const email = await readFile(await outbox.notify({ about, incorrect: [wrong, hostile] }), 'latin1');
    const [, attached = ''] =
      /Content-Type: text\/csv; charset=utf-8; name=incorrect-mappings\.csv[\s\S]+?\r\n\r\n([\w+/=\r\n]+)/.exec(
        email,
      ) ?? [];
    const rows = parse(Buffer.from(attached, 'base64'), { columns: true }) as Record<string, string>[];
    const { providerName, providerHotelId } = real;
    expect(rows).toEqual([
      {
        ServiceId: String(booked.serviceId),
        BookingReferenceId: 'BR-1042',
        BookingClientName: wrong.bookingClientName,
        ProviderName: providerName,
        ProviderHotelId: providerHotelId,
        CheckInDate: '2026-11-20',
        CheckOutDate: '2026-11-22',
      },
      expect.objectContaining({
        BookingReferenceId: hostile.bookingReferenceId,
        BookingClientName: '=1+1,"x"',
      }),
    ]);
    expect(email.replace(attached, '')).not.toContain('BR-1042');
  });

  it('come in turn', async () => {
    const { outbox } = await openOutbox({ form: 'turns' });
    const types: string[] = [];
    for (let email = 0; email < 4; email += 1) {
      const text = await readFile(await outbox.notify({ about, incorrect: [wrong] }), 'latin1');
      types.push(/^Content-Type: ([\w/]+)/m.exec(text)?.[1] ?? '');
    }
    expect(types).toEqual(['text/plain', 'text/html', 'multipart/mixed', 'text/plain']);
  });
});

describe('the outbox', () => {
  it('names files by time and number, and returns what each is about', async () => {
    const { folder, outbox } = await openOutbox();
    expect(await outbox.notify({ about, incorrect: [wrong] })).toBe(
      join(folder, '20261120T140307.123Z-0001.eml'),
    );
    expect(await outbox.notify({ about: 'the request body of 14:03:07', incorrect: [wrong] })).toBe(
      join(folder, '20261120T140307.123Z-0002.eml'),
    );
  });

  it('makes e-mails readable by their owner only', async () => {
    const { folder, outbox } = await openOutbox();
    const path = await outbox.notify({ about, incorrect: [wrong] });
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('writes concurrent e-mails separately and leaves nothing else behind', async () => {
    const { folder, outbox } = await openOutbox();
    const notices = Array.from({ length: 20 }, (_, place) => `the file ${place}`);
    const emails = await Promise.all(
      notices.map((note) => outbox.notify({ about: note, incorrect: [wrong] })),
    );
    expect((await readdir(folder)).toSorted()).toEqual(emails.map((path) => basename(path)).toSorted());
    for (const [place, path] of emails.entries())
      expect(await readFile(path, 'utf8')).toContain(`${notices[place]} found`);
  });

  it('never overwrites an existing e-mail', async () => {
    const { folder, outbox } = await openOutbox();
    const first = await outbox.notify({ about, incorrect: [wrong] });
    await writeFile(first, 'kept');
    const again = createOutbox({ folder, from, to, world, clock: () => now });
    expect(basename(await again.notify({ about, incorrect: [wrong] }))).toBe('20261120T140307.123Z-0002.eml');
    expect(await readFile(first, 'utf8')).toBe('kept');
  });

  it('reports an unusable folder', async () => {
    const { folder, outbox } = await openOutbox();
    await outbox.notify({ about, incorrect: [wrong] });
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    await expect(outbox.notify({ about, incorrect: [wrong] })).rejects.toThrow(/EEXIST|ENOTDIR/);
  });
});
