import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createOutbox } from '../../src/sandbox/outbox/outbox.js';
import { createWorld } from '../../src/sandbox/world/world.js';
import { decodeQuotedPrintable } from '../support/email.js';

const about = 'VerifyMappings/112026/20112026.csv';
const now = Date.UTC(2026, 10, 20, 14, 3, 7, 123);
const world = createWorld({ seed: 4, hotels: 60 });
const [booked, actual] = [world.mappings[0], world.mappings[20]];
if (!booked || !actual) throw new Error('expected a world with mappings');
const described = (serviceId: number) => {
  const hotel = world.hotelOf(serviceId);
  return `${serviceId}, ${hotel?.name} (${hotel?.country})`;
};
const wrong = {
  serviceId: booked.serviceId,
  bookingReferenceId: 'BR-1042',
  bookingClientName: 'Wang 伟, "Zoë" = Åkesson',
  providerName: actual.providerName,
  providerHotelId: actual.providerHotelId,
  checkInDate: '2026-11-20',
  checkOutDate: '2026-11-22',
};

async function openOutbox() {
  const parent = await mkdtemp(join(tmpdir(), 'outbox-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  const folder = join(parent, 'emails');
  const from = '"Mapping Service" <service@example.com>';
  return {
    folder,
    outbox: createOutbox({ folder, from, to: 'account@example.com', world, clock: () => now }),
  };
}

async function read(path: string) {
  const [head = '', ...paragraphs] = (await readFile(path, 'latin1')).split('\r\n\r\n');
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  const headers = lines.map((line) => [line.split(':')[0]?.toLowerCase(), line.slice(line.indexOf(':') + 2)]);
  return { headers: Object.fromEntries(headers), text: decodeQuotedPrintable(paragraphs.join('\r\n\r\n')) };
}

it('an e-mail tells of each booking what was booked and what it really is', async () => {
  const { folder, outbox } = await openOutbox();
  const unknown = { serviceId: 7, providerName: 'Nobody', providerHotelId: '0' };
  const path = await outbox.notify({ about, incorrect: [wrong, unknown] });
  expect(path).toBe(join(folder, '20261120T140307.123Z-0001.eml'));
  const { headers, text } = await read(path);
  expect(headers).toEqual({
    from: expect.stringMatching(/^"?Mapping Service"? <service@example\.com>$/),
    to: 'account@example.com',
    subject: 'Incorrect hotel mappings: 2 bookings are affected',
    date: 'Fri, 20 Nov 2026 14:03:07 +0000',
    'message-id': expect.stringMatching(/^<[^@\s]+@sandbox\.invalid>$/),
    'mime-version': '1.0',
    'content-type': 'text/plain; charset=utf-8',
    'content-transfer-encoding': 'quoted-printable',
  });
  const unheardOf = 'a hotel that the service does not know';
  expect(text.split('\n')).toEqual([
    `The review of ${about} found 2 bookings whose provider hotel is not the hotel that was booked. Please look after the guests before they arrive.`,
    '',
    'BR-1042',
    '  Guest:     Wang 伟, "Zoë" = Åkesson',
    '  Stay:      2026-11-20 to 2026-11-22',
    `  Provider:  ${actual.providerName}, hotel ${actual.providerHotelId}`,
    `  Booked:    ${described(booked.serviceId)}`,
    `  Really is: ${described(actual.serviceId)}`,
    '',
    '(no reference)',
    '  Guest:     (not given)',
    '  Stay:      (not given) to (not given)',
    '  Provider:  Nobody, hotel 0',
    `  Booked:    7, ${unheardOf}`,
    `  Really is: ${unheardOf}`,
    '',
  ]);
});

it('no booking puts a header or a line into an e-mail', async () => {
  const { outbox } = await openOutbox();
  const forged = '\r\nBcc: everyone@example.com\r\n\r\nBR-1\u2028BR-2\n.\n';
  const fields = Object.keys(wrong).filter((name) => name !== 'serviceId');
  const incorrect = [{ serviceId: 7, ...Object.fromEntries(fields.map((name) => [name, `it${forged}`])) }];
  const { headers, text } = await read(await outbox.notify({ about: `it${forged}`, incorrect }));
  expect(Object.keys(headers)).not.toContain('bcc');
  expect(text.split('\n')).toHaveLength(9);
  expect(text).toContain('  Guest:     it Bcc: everyone@example.com BR-1 BR-2 . \n');
});

it('an e-mail lists a thousand bookings and counts the others', async () => {
  const { outbox } = await openOutbox();
  const incorrect = Array.from({ length: 1_001 }, (_, place) => ({
    ...wrong,
    bookingReferenceId: `BR-${place}`,
  }));
  const { headers, text } = await read(await outbox.notify({ about, incorrect, count: 200_000 }));
  expect(headers.subject).toContain(': 200000 bookings are');
  expect(text.match(/^BR-\d+$/gm)).toEqual(incorrect.slice(0, 1_000).map((one) => one.bookingReferenceId));
  expect(text).toMatch(/\n\n… and 199000 more\.\n$/);
});

it('concurrent e-mails are files of their own, for their owner only', async () => {
  const { folder, outbox } = await openOutbox();
  const notices = Array.from({ length: 20 }, (_, place) => `the file ${place}`);
  const paths = await Promise.all(notices.map((note) => outbox.notify({ about: note, incorrect: [wrong] })));
  expect((await readdir(folder)).sort()).toEqual(paths.map((path) => basename(path)).sort());
  for (const [place, path] of paths.entries()) {
    expect(await readFile(path, 'utf8')).toContain(`${notices[place]} found`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  }
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

it('e-mails about reviews and others of the same instant lie in files of their own', async () => {
  const { folder, outbox } = await openOutbox();
  const exported = { to: 'account@example.com', subject: 'Your mappings have been exported', text: 'x' };
  const paths = [await outbox.notify({ about, incorrect: [wrong] }), await outbox.post(exported)];
  expect((await readdir(folder)).sort()).toEqual(paths.map((path) => basename(path)).sort());
});
