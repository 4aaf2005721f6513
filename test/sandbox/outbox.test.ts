import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { IncorrectMapping } from '../../src/sandbox/outbox/notice.js';
import { createOutbox, type OutboxOptions } from '../../src/sandbox/outbox/outbox.js';
import { createWorld } from '../../src/sandbox/world/world.js';
import { decodeQuotedPrintable } from '../support/email.js';

/** An e-mail as its reader sees it. */
interface ReadEmail {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface EmailReader {
  readonly name: string;
  readonly needs: string | undefined;
  read(path: string): Promise<ReadEmail>;
}

const script = `
import email, email.policy, json, sys
with open(sys.argv[1], 'rb') as file:
    message = email.message_from_binary_file(file, policy=email.policy.default)
assert not message.defects, message.defects
assert message.get_content_type() == 'text/plain', message.get_content_type()
headers = [(name.lower(), str(value)) for name, value in message.items()]
assert len(headers) == len(dict(headers)), headers
print(json.dumps({'headers': dict(headers), 'text': message.get_content()}))
`;

const pythonEmail: EmailReader = {
  name: "Python's email module",
  needs:
    spawnSync('python3', ['--version']).status === 0 ? undefined : 'needs python3: apt-get install python3',
  read: async (path) => JSON.parse(execFileSync('python3', ['-c', script, path], { encoding: 'utf8' })),
};

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

const about = 'VerifyMappings/112026/20112026.csv';
const from = '"Mapping Service" <service@example.com>';
const to = 'account@example.com';
const now = Date.UTC(2026, 10, 20, 14, 3, 7, 123);
const world = createWorld({ seed: 4, hotels: 60 });

async function openOutbox(options: Partial<OutboxOptions> = {}) {
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

const [booked, real] = [mapping(0), mapping(20)];
/** Booked as one hotel, while the provider's hotel is another. */
const wrong: IncorrectMapping = {
  serviceId: booked.serviceId,
  bookingReferenceId: 'BR-1042',
  bookingClientName: 'Wang 伟, "Zoë" = Åkesson',
  providerName: real.providerName,
  providerHotelId: real.providerHotelId,
  checkInDate: '2026-11-20',
  checkOutDate: '2026-11-22',
};

describe.each([pythonEmail, plainReader])('an e-mail, read with $name', ({ name, needs, read }) => {
  const readable = it.skipIf(needs !== undefined);
  const title = (text: string) => (needs === undefined ? text : `${text} (${name}: ${needs})`);

  readable(title('says to whom it is, from whom, of when and about how many bookings'), async () => {
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

  readable(title('tells of each booking what was booked and what it really is'), async () => {
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

  readable(title('says what a booking left out, and which hotels the world does not know'), async () => {
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

  readable(title('has no header and no line that a booking could have put there'), async () => {
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

  readable(title('lists a thousand bookings and counts the rest'), async () => {
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
