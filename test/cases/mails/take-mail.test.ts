import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hashReference } from '../../../src/booking/booking.js';
import type { CaseEvent, VerdictMailEvent } from '../../../src/cases/events.js';
import { followMappings } from '../../../src/cases/follow-mappings.js';
import type { ExamineMail } from '../../../src/cases/mails/mail-process.js';
import { UnreadMailError } from '../../../src/cases/mails/records.js';
import type { ListedSenders } from '../../../src/cases/mails/sender.js';
import { createMailTaker } from '../../../src/cases/mails/take-mail.js';
import { createSqliteLedger } from '../../../src/ledger/sqlite/sqlite-ledger.js';
import { planBatches } from '../../../src/rules/batch-plan.js';
import { canaryStep } from '../../../src/rules/canary.js';
import { at, done, newRun, perform, rightOf, toLines } from '../../contracts/ledger/days.js';
import { findStayKeys } from '../../contracts/ledger/stay-keys.js';
import { rowOf, syncRows } from '../../contracts/mapping-copy/pages.js';
import { collectBookings, someBooking } from '../../desk/some-bookings.js';
import { lineOfBooking } from '../../support/made-bookings.js';
import { examineHere, htmlTable, mailOf } from './mails.js';

const stay = { bookingClientName: 'Ana Gil', checkInDate: '2027-03-01', checkOutDate: '2027-03-04' };
const bookings = [
  { ...stay, serviceId: 5, bookingReferenceId: 'BR-1042', providerName: 'Alpha', providerHotelId: 'H-1' },
  { ...stay, serviceId: 5, bookingReferenceId: 'BR-1043', providerName: 'Alpha', providerHotelId: 'H-1' },
  { ...stay, serviceId: 6, bookingReferenceId: 'BR-1044', providerName: 'Alpha', providerHotelId: 'H-1' },
  { ...stay, serviceId: 7, bookingReferenceId: 'BR-1045', providerName: 'Beta', providerHotelId: '9' },
];
const canaryHotel = { providerName: 'X', providerHotelId: 'C-1' };

/** An e-mail with its own Message-ID, if it is given. */
const mailFrom = (type: string, body: string, id = 'm1') => ({
  ...{ from: 'a.eml', bytes: Buffer.from(mailOf(type, body).replace('<m1@', `<${id}@`)) },
});
const plain = (body: string, id?: string) => mailFrom('text/plain', body, id);
const table = (rows: readonly (readonly string[])[], id?: string) =>
  mailFrom('text/html', htmlTable(rows), id);
const named = plain('Incorrect: BR-1042');

interface Given {
  /** The hotel of the run's canary; none for a run without one. */
  readonly canaryHotel?: { readonly providerName: string; readonly providerHotelId: string };
  readonly examine?: ExamineMail;
  readonly senders?: ListedSenders;
  readonly booked?: readonly (typeof bookings)[number][];
}

async function prepare({
  canaryHotel,
  examine = examineHere,
  senders = { from: [] },
  booked = bookings,
}: Given = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'mails-'));
  const clock = () => at + 3_600_000;
  const open = () => createSqliteLedger({ path: join(folder, 'ledger.db'), clock });
  const ledger = open();
  onTestFinished(async () => {
    await ledger.close();
    rmSync(folder, { recursive: true });
  });
  const run = await ledger.runs.create(newRun('r1'));
  const collect = await ledger.bookings.beginCollect(rightOf(run), {
    source: 'x',
    at,
    batchSize: booked.length,
  });
  const lines = toLines(booked.map(lineOfBooking));
  const referenceHashes = booked.map(({ bookingReferenceId }) => hashReference(bookingReferenceId));
  await collect.store({
    batches: [{ stream: 'posted', number: 0, referenceHashes, lines, stays: findStayKeys(lines) }],
    ...{ duplicates: 0, filtered: 0, rejects: [], warnings: [] },
  });
  const reference = 'CANARY-r1';
  const line = lineOfBooking({ ...stay, serviceId: 1, bookingReferenceId: reference, ...canaryHotel });
  const canary = canaryHotel ? { reference, line, withinMs: 3_600_000 } : undefined;
  const steps = [...planBatches(booked.length, booked.length), ...(canary ? [canaryStep] : [])];
  const planned = await collect.finish({ steps, canary, at });
  if (canary) await perform(ledger, planned, 'canary', done);
  const events: (VerdictMailEvent | CaseEvent)[] = [];
  const taker = createMailTaker({
    ledger,
    examine,
    senders,
    today: () => '2026-11-21',
    matchMs: 14 * 86_400_000,
    clock,
    notify(event: VerdictMailEvent | CaseEvent) {
      if (!event.type.startsWith('case-')) events.push(event);
    },
  });
  const listCases = () => ledger.cases.list({ today: '2026-11-21' });
  return { ledger, taker, events, listCases };
}

describe('An e-mail that names a booking', () => {
  it('opens a case of origin email with every stay on the same mapping, once', async () => {
    const { ledger, taker, events, listCases } = await prepare();
    const naming = { bookings: [{ reference: 'BR-1042', day: '2026-11-20' }] };
    expect(await taker.take(named)).toMatchObject({ outcome: 'named', ...naming });
    expect(await listCases()).toMatchObject([
      { providerHotelId: 'H-1', serviceId: 5, origins: ['email'], bookings: 2 },
    ]);
    const again = { ...named, bytes: Buffer.from(String(named.bytes).replaceAll('\r\n', '\n')) };
    expect(await taker.take(again)).toMatchObject({ outcome: 'already-read', ...naming });
    // Servers on the way add headers of their own.
    const copy = { ...named, bytes: Buffer.from(`Received: from a by b\r\n${named.bytes}`) };
    expect(await taker.take(copy)).toMatchObject({ outcome: 'already-read', ...naming });
    // Its date is in the future: then no move of the mapping could correct the case.
    const receivedAt = Date.UTC(2026, 10, 21, 2, 30);
    expect(events).toEqual([{ type: 'verdict-mail-named', mail: 1, receivedAt, named: 1 }]);
    expect(await ledger.mails.listWithoutCases()).toEqual([]);
    // A Message-ID is no proof: anybody can write one.
    expect(await taker.take(plain('Once more incorrect: BR-1042'))).toMatchObject({
      outcome: 'named',
      ...naming,
    });
  });

  it('gets its case after all if the process ends before the case is open', async () => {
    const { ledger, taker, listCases } = await prepare();
    const { changeByKey } = ledger.cases;
    const cut = new Error('killed');
    ledger.cases.changeByKey = async () => {
      throw cut;
    };
    await expect(taker.take(named)).rejects.toThrow(cut);
    expect(await ledger.bookings.trace('BR-1042')).toMatchObject([{ namedByEmailAt: expect.any(Number) }]);
    expect(await listCases()).toEqual([]);
    ledger.cases.changeByKey = changeByKey;
    await taker.resume();
    expect(await listCases()).toMatchObject([{ providerHotelId: 'H-1', bookings: 2 }]);
  });

  it('and was saved as a list was received when its file was written, if nothing else says when', async () => {
    const { taker } = await prepare();
    const saved = { from: 'list.csv', bytes: Buffer.from('BR-1042\n'), savedAt: at - 5_000 };
    expect(await taker.take(saved)).toMatchObject({ outcome: 'named', receivedAt: at - 5_000 });
  });

  it('by its pair alone names all its booked master hotels, or the one in the row', async () => {
    const { ledger, taker, listCases } = await prepare();
    const rows = [
      ['Provider', 'Hotel code', 'ServiceId'],
      ['Alpha', 'H-1', '6'],
    ];
    const pairs = [{ providerHotelId: 'H-1', serviceId: 6 }];
    expect(await taker.take(table(rows))).toMatchObject({ outcome: 'named', bookings: [], pairs });
    expect(await listCases()).toMatchObject([{ serviceId: 6, bookings: 1 }]);
    await taker.take(mailFrom('text/csv', 'Proveedor;Codigo hotel proveedor\nAlpha;H-1\n', 'm2'));
    expect(await listCases()).toMatchObject([{ serviceId: 6 }, { serviceId: 5, bookings: 2 }]);
    expect(await ledger.bookings.trace('BR-1045')).not.toHaveProperty('0.namedByEmailAt');
  });
});

describe('The case of an e-mail', () => {
  it('is not corrected by a move within the second in which it was received, but by a later one', async () => {
    const { ledger, taker } = await prepare();
    const move = (serviceId: number, seenAt: number) =>
      syncRows(ledger.mappings, [rowOf('H-1', serviceId, { providerName: 'Alpha' })], seenAt);
    const followedState = async () => {
      await followMappings({
        ...{ ledger, today: '2026-11-21' },
        ...{ escalateAfterMs: 86_400_000, clock: () => at + 3_600_000 },
      });
      const [found] = await ledger.cases.list({ today: '2026-11-21' });
      return found?.state;
    };
    await move(5, at - 60_000);
    await move(6, at + 999);
    await taker.take({ ...named, arrivedAt: at });
    expect(await followedState()).toBe('open');
    await move(7, at + 1_000);
    expect(await followedState()).toBe('corrected');
  });
});

describe('An e-mail that names nothing known', () => {
  it('opens no case and is reported once, and matched again when it is read again', async () => {
    const { ledger, taker, events, listCases } = await prepare();
    const mail = plain('Incorrect: BR-9999');
    for (const outcome of ['nothing-known', 'already-read'])
      expect(await taker.take(mail)).toMatchObject({ outcome, bookings: [] });
    expect(events).toMatchObject([{ type: 'verdict-mail-unknown', mail: 1 }]);
    expect(await listCases()).toEqual([]);
    const late = someBooking({ bookingReferenceId: 'BR-9999' });
    await collectBookings(ledger, 'r2', [late], { day: '2026-11-21' });
    const naming = { bookings: [{ reference: 'BR-9999', day: '2026-11-21' }] };
    expect(await taker.take(mail)).toMatchObject({ outcome: 'named', ...naming });
  });

  it('that only calls known bookings correct says so', async () => {
    const { ledger, taker } = await prepare();
    const take = async (id: string, ...rows: string[][]) => {
      const mail = table([['Reference', 'IsCorrectMapping'], ...rows], id);
      expect(await taker.take(mail)).toMatchObject({ outcome: 'nothing-known' });
      return (await ledger.mails.listMails({ limit: 1 }))[0]?.reason;
    };
    expect(await take('a', ['BR-1042', 'true'])).toBe('called-correct');
    expect(await take('b', ['BR-1042', 'true'], ['BR-9999', 'false'])).toBeUndefined();
    expect(await take('c', ['BR-9999', 'true'])).toBeUndefined();
  });
});

describe('An e-mail that the mailbox does not hand out', () => {
  const mail = { from: 'imap', key: 'u 1 7', fault: 'not-fetched' } as const;

  it('is told once and listed, and no stranger’s', async () => {
    const senders = { from: ['@service.example'] };
    const { ledger, taker, events } = await prepare({ senders });
    expect(await taker.take(mail)).toMatchObject({ outcome: 'set-aside', reason: 'not-fetched' });
    expect(await taker.take(mail)).toMatchObject({ outcome: 'already-read' });
    // Perhaps there are thousands.
    await taker.take({ ...mail, key: 'u 1 8' });
    expect(events.map(({ type }) => type)).toEqual(['verdict-mail-set-aside', 'verdict-mail-set-aside']);
    expect(await listNotices(ledger)).toMatchObject([
      { event: 'mail-set-aside', subject: 'not-fetched 2026-11-21', facts: { reason: 'not-fetched' } },
    ]);
    expect(await ledger.mails.listMails({ limit: 5, onlyUnknown: true })).toHaveLength(2);
    // Later it does, and is no longer listed as one that was not fetched.
    await taker.take({ from: 'imap', key: mail.key, bytes: named.bytes });
    expect(await ledger.mails.listMails({ limit: 5, onlyUnknown: true })).toHaveLength(1);
  });
});

describe('An e-mail that cannot be read', () => {
  it('is recorded and reported once, by its reason', async () => {
    const { ledger, taker, events } = await prepare();
    const mail = { fault: 'too-large', key: 'uid 7', from: 'imap' } as const;
    expect(await taker.take(mail)).toMatchObject({ outcome: 'unreadable', reason: 'too-large' });
    await taker.take(mail);
    expect(events).toMatchObject([{ type: 'verdict-mail-unreadable', reason: 'too-large' }]);
    expect(await ledger.mails.listMails({ limit: 5, onlyUnknown: true })).toMatchObject([
      { outcome: 'unreadable', reason: 'too-large' },
    ]);
    // Where anybody may write, anybody could have many told.
    await taker.take(mail, { isAsked: true });
    expect(await listNotices(ledger)).toEqual([]);
  });

  it('is told if its sender is listed', async () => {
    const { ledger, taker } = await prepare({ senders: { from: ['@service.example'] } });
    const head = named.bytes.subarray(0, named.bytes.indexOf('\r\n\r\n'));
    await taker.take({ fault: 'too-large', key: 'uid 7', from: 'imap', head });
    expect(await listNotices(ledger)).toMatchObject([
      { event: 'mail-set-aside', facts: { reason: 'too-large' } },
    ]);
  });
});

async function listNotices({ notices }: Awaited<ReturnType<typeof prepare>>['ledger']) {
  const found: { event: string; subject: string; facts: object }[] = [];
  await notices.route(({ event, subject, facts }) => {
    found.push({ event, subject, facts });
    return [];
  }, at);
  return found;
}

describe('The sender of an e-mail', () => {
  const prepareFor = (senders: ListedSenders) => prepare({ canaryHotel, senders });
  let count = 0;
  const of = (sender: string, text: string, ...headers: string[]) => {
    count += 1;
    const mail = mailOf('text/plain', text, headers).replace('<m1@', `<sent-${count}@`);
    return { from: 'imap', bytes: Buffer.from(mail.replace(/^From: .*$/m, `From: ${sender}`)) };
  };
  const service = 'Reviews <reviews@service.example>';

  it('counts if it is listed; others open, name and block nothing, and are told once a day if they name bookings', async () => {
    const { ledger, taker, events, listCases } = await prepareFor({ from: ['@service.example'] });
    for (const text of [
      'Incorrect: BR-1042',
      'Incorrect: BR-1043',
      'CANARY-r1',
      'Buy now',
      'x\n'.repeat(600_000),
    ])
      expect(await taker.take(of('a@other.example', text))).toMatchObject({
        ...{ outcome: 'unknown-sender', bookings: [], canaries: [] },
      });
    expect(await listCases()).toEqual([]);
    expect((await ledger.canaries.find('r1'))?.namedAt).toBeUndefined();
    expect(events).toHaveLength(5);
    expect(await listNotices(ledger)).toMatchObject([
      { event: 'mail-set-aside', subject: 'unknown-sender 2026-11-21', facts: { reason: 'unknown-sender' } },
    ]);
    expect(await taker.take(of(service, 'Incorrect: BR-1042'))).toMatchObject({ outcome: 'named' });
    expect(await listCases()).toMatchObject([{ providerHotelId: 'H-1' }]);
  });

  it('is told if an unknown one calls bookings correct: it may be the service', async () => {
    const { ledger, taker } = await prepareFor({ from: ['@service.example'] });
    const list = 'BookingReferenceId;IsCorrectMapping\nBR-1042;true\n';
    expect(await taker.take(of('a@other.example', list))).toMatchObject({ outcome: 'unknown-sender' });
    expect(await listNotices(ledger)).toMatchObject([{ subject: 'unknown-sender 2026-11-21' }]);
  });

  it('does not matter to a person who imports the e-mail, or once it is listed', async () => {
    const senders = { from: ['@service.example'] };
    const { taker } = await prepareFor(senders);
    const mail = of('a@other.example', 'Incorrect: BR-1042');
    expect(await taker.take(mail)).toMatchObject({ outcome: 'unknown-sender' });
    expect(await taker.take(mail)).toMatchObject({ outcome: 'already-read', bookings: [] });
    const other = of('a@other.example', 'Incorrect: BR-1043');
    expect(await taker.take(other)).toMatchObject({ outcome: 'unknown-sender' });
    expect(await taker.take(other, { isAsked: true })).toMatchObject({ outcome: 'named' });
    senders.from.push('a@other.example');
    expect(await taker.take(mail)).toMatchObject({ outcome: 'named' });
  });

  it('must be confirmed where that is asked for: an e-mail that only claims it is set aside', async () => {
    const authenticatedBy = 'mx.agency.example';
    const { ledger, taker } = await prepareFor({ from: ['@service.example'], authenticatedBy });
    expect(await taker.take(of(service, 'Incorrect: BR-1042'))).toMatchObject({
      ...{ outcome: 'set-aside', reason: 'not-authenticated' },
    });
    await taker.take(of(service, 'Incorrect: BR-1043'));
    // Once a day: anybody can claim to be the service.
    expect(await listNotices(ledger)).toMatchObject([
      { event: 'mail-set-aside', subject: 'not-authenticated 2026-11-21', facts: { mail: '1' } },
    ]);
    const passed = `Authentication-Results: ${authenticatedBy}; dmarc=pass header.from=service.example`;
    expect(await taker.take(of(service, 'Incorrect: BR-1042', passed))).toMatchObject({ outcome: 'named' });
  });
});

describe('An e-mail about more than 1,000 bookings', () => {
  const many = (providerHotelId: (index: number) => string) =>
    Array.from({ length: 1_001 }, (_, index) => ({
      ...{ ...stay, serviceId: 5, bookingReferenceId: `BR-${20_000 + index}`, providerName: 'Alpha' },
      providerHotelId: providerHotelId(index),
    }));
  const everyOne = Array.from({ length: 1_001 }, (_, index) => `BR-${20_000 + index}`);

  it.each([
    ['that it names', (index: number) => `H-${index}`, plain(everyOne.join('\n'))],
    ['on one mapping that it names', () => 'H-1', plain(everyOne[0] ?? '')],
    ['whose mapping alone it names', () => 'H-1', mailFrom('text/csv', 'Provider;Hotel code\nAlpha;H-1\n')],
  ])(
    '%s is set aside where anybody may write, until a person or its sender vouches for it',
    async (...about) => {
      const [, providerHotelId, mail] = about;
      const senders = { from: [] as string[] };
      const { ledger, taker, listCases } = await prepare({ senders, booked: many(providerHotelId) });
      expect(await taker.take(mail)).toMatchObject({ outcome: 'set-aside', reason: 'too-many-bookings' });
      expect(await listCases()).toEqual([]);
      expect(await listNotices(ledger)).toMatchObject([
        { event: 'mail-set-aside', facts: { reason: 'too-many-bookings' } },
      ]);
      expect(await taker.take(mail)).toMatchObject({ outcome: 'already-read' });
      senders.from.push('@service.example');
      expect(await taker.take(mail)).toMatchObject({ outcome: 'named' });
      expect((await listCases()).reduce((sum, { bookings }) => sum + bookings, 0)).toBe(1_001);
      expect(await listNotices(ledger)).toMatchObject([{ event: 'affected-found' }]);
    },
  );

  it('may have 1,000 of them from anybody', async () => {
    const { taker } = await prepare({ booked: many((index) => `H-${index}`) });
    expect(await taker.take(plain(everyOne.slice(1).join('\n')))).toMatchObject({ outcome: 'named' });
  });
});

describe('An e-mail that fails', () => {
  it('in its reader is set aside with its reason, told once, and read again only if a person asks', async () => {
    let reads = 0;
    const examine: ExamineMail = async (bytes, lookUp) => {
      reads += 1;
      if (reads === 1) throw new UnreadMailError('too-slow');
      return examineHere(bytes, lookUp);
    };
    const { ledger, taker, events, listCases } = await prepare({ examine });
    expect(await taker.take(named)).toMatchObject({ outcome: 'set-aside', reason: 'too-slow', bookings: [] });
    expect(await taker.take(named)).toMatchObject({ outcome: 'already-read', bookings: [] });
    expect(reads).toBe(1);
    expect(events).toMatchObject([{ type: 'verdict-mail-set-aside', mail: 1, reason: 'too-slow' }]);
    expect(await listNotices(ledger)).toEqual([
      { event: 'mail-set-aside', subject: 'e-mail 1', facts: { mail: '1', reason: 'too-slow' } },
    ]);
    expect(await ledger.mails.listMails({ limit: 5, onlyUnknown: true })).toMatchObject([
      { outcome: 'set-aside', reason: 'too-slow' },
    ]);
    expect(await listCases()).toEqual([]);

    const bookings = [{ reference: 'BR-1042' }];
    expect(await taker.take(named, { isAsked: true })).toMatchObject({ outcome: 'named', bookings });
    expect(await listCases()).toMatchObject([{ providerHotelId: 'H-1' }]);
  });

  it('for any other reason is tried again once, then set aside, so that the next one is read', async () => {
    const fault = new Error('a defect');
    const examine: ExamineMail = async (bytes, lookUp) => {
      if (String(bytes).includes('Good')) return examineHere(bytes, lookUp);
      throw fault;
    };
    const { ledger, taker } = await prepare({ examine });
    await expect(taker.take(named)).rejects.toBe(fault);
    expect(await taker.take(named)).toMatchObject({ outcome: 'set-aside', reason: 'failed' });
    expect(await taker.take(plain('Good: BR-1043', 'm2'))).toMatchObject({ outcome: 'named' });
    expect(await ledger.mails.listMails({ limit: 5, onlyUnknown: true })).toHaveLength(1);
  });
});

describe('An e-mail that names a canary', () => {
  it('is recognised and names it, but no booking, and opens no case', async () => {
    const { ledger, taker, events, listCases } = await prepare({ canaryHotel });
    const mail = plain('Incorrect: CANARY-r1');
    const naming = { canaries: [{ reference: 'CANARY-r1', day: '2026-11-20' }], bookings: [] };
    expect(await taker.take(mail)).toMatchObject({ outcome: 'named', ...naming });
    expect(await ledger.canaries.find('r1')).toMatchObject({ namedAt: Date.UTC(2026, 10, 21, 2, 30) });
    expect(events).toMatchObject([{ type: 'verdict-mail-named', named: 0, canaries: 1 }]);
    expect(await taker.take(mail)).toMatchObject({ outcome: 'already-read', ...naming });
    expect(await listCases()).toEqual([]);
    expect(await ledger.mails.listMails({ limit: 9, onlyUnknown: true })).toEqual([]);
  });

  it('beside its pair names it only: the pair counts for nothing', async () => {
    const beta = { providerName: 'Beta', providerHotelId: '9' };
    const { ledger, taker, listCases } = await prepare({ canaryHotel: beta });
    const rows = [
      ['Booking reference', 'ProviderName', 'ProviderHotelId', 'ServiceId'],
      ['CANARY-r1', 'Beta', '9', '7'],
    ];
    expect(await taker.take(table(rows))).toMatchObject({
      ...{ outcome: 'named', bookings: [], pairs: [], canaries: [{ reference: 'CANARY-r1' }] },
    });
    expect((await ledger.canaries.find('r1'))?.namedAt).toBeDefined();
    expect(await listCases()).toEqual([]);
  });

  it.each([
    ['is the reference of another night', plain('Incorrect: CANARY-r2')],
    [
      'is a longer reference that begins like it',
      plain('Incorrect: CANARY-r10, CANARY-r1-2 and CANARY-r1/2'),
    ],
    ['is called correct', plain('Booking reference;IsCorrectMapping\r\nCANARY-r1;true\r\n')],
  ])('does not name it where it %s', async (_, mail) => {
    const { ledger, taker } = await prepare({ canaryHotel });
    expect(await taker.take(mail)).toMatchObject({ outcome: 'nothing-known', canaries: [] });
    expect((await ledger.canaries.find('r1'))?.namedAt).toBeUndefined();
  });
});
