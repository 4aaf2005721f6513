import { beforeEach, describe, expect, it } from 'vitest';
import { blankNames } from '../../../src/booking/stored-line.js';
import type { DeskParts } from '../../../src/desk/page.js';
import { rememberReference } from '../../../src/ledger/guests.js';
import type { HeldCase } from '../../../src/rules/case.js';
import {
  applyCommand,
  applyMoves,
  resolveBookings,
  toDecision,
} from '../../../src/rules/case-transitions.js';
import { perform, refused } from '../../contracts/ledger/days.js';
import { rowOf, syncRows } from '../../contracts/mapping-copy/pages.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { openCases, threeCases } from '../cases/some-cases.js';
import { collectBookings, deliverBookings, someBooking } from '../some-bookings.js';
import { getData, getPage, now, readRows, startDesk } from '../some-desk.js';
import { addFileRun } from '../some-file-run.js';

let ledger: DeskParts['ledger'];
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => now);
});

const find = (reference: string, more = '') => `/bookings?reference=${encodeURIComponent(reference)}${more}`;

/** The sentence that answers whether it was checked. */
const readAnswer = (page: string) =>
  /<div class="card"><p>(.*?)<\/p>/s
    .exec(page)?.[1]
    ?.replace(/<svg.*?<\/svg>|<[^>]*>/gs, '')
    .trim();

async function look(role: 'team' | 'operator' | 'admin', path: string, parts: Partial<DeskParts> = {}) {
  const desk = await startDesk({ ledger, role, parts });
  return { ...(await getPage(desk.url, path)), recorded: desk.recorded };
}

describe('a booking', () => {
  it('is shown with its runs, with its name to those who may see names, and the look is recorded', async () => {
    await deliverBookings(ledger, 'r1', [someBooking()]);
    const team = await look('team', find('BR-1'));
    expect(team.text).toContain('Ana Gil');
    expect(team.text).toContain('href="/runs/r1"');
    expect(team.text).toContain('href="/mappings?provider=hotelbeds&amp;hotel=007"');
    expect(team.text).toContain('/bookings/evidence?reference=BR-1');
    // Beyond the last page there is the last one.
    const operator = await look('operator', find('BR-1', '&page=9'));
    expect(operator.text).toContain('href="/runs/r1"');
    expect(operator.text).not.toMatch(/Ana|\/bookings\/evidence/);
    const looked = { action: 'show', subject: 'BR-1', details: { found: 1, answers: false } };
    expect([...team.recorded, ...operator.recorded]).toMatchObject([
      { ...looked, details: { names: true } },
      { ...looked, details: { names: false } },
    ]);
  });

  it('that is a canary is none: its run is named, and no look is recorded', async () => {
    await collectBookings(ledger, 'r1', [someBooking()], { canary: 'CANARY-1' });
    const { text, recorded } = await look('team', find('CANARY-1'));
    expect(text).toContain('It is no booking; no count and no list has it. <a href="/runs/r1">');
    expect(recorded).toEqual([]);
  });

  it('shows what the service said only on request, and no guest to those who may not see names', async () => {
    const run = await collectBookings(ledger, 'r1', [someBooking()]);
    await perform(ledger, run, 'batch 0', refused);
    const path = find('BR-1', '&answers=yes');
    expect((await look('team', find('BR-1'))).text).not.toContain('Invalid hotel data');
    expect((await look('team', path)).text).toContain('Invalid hotel data of Ana Gil');
    const operator = await look('operator', path);
    expect(operator.text).toContain('Invalid hotel data of *** ***');
    expect(operator.recorded).toMatchObject([{ details: { answers: true, names: false } }]);
  });

  it('has the hotel as booked, under whatever name the master hotel is sent', async () => {
    await collectBookings(ledger, 'r1', [someBooking()], { masterIdName: 'MasterId' });
    await syncRows(ledger.mappings, [rowOf('007', 7, { providerName: 'hotelbeds' })], now);
    const { text } = await look('operator', find('BR-1'));
    expect(readRows(text)).toEqual([['ServiceId', '7', 'the booked hotel']]);
  });
});

describe('the answer whether it was checked', () => {
  const answer = async (reference: string, at = now) =>
    readAnswer((await look('operator', find(reference), { clock: () => at })).text);

  it('is its verdict in the result, when it was sent, and what is open', async () => {
    await addFileRun(ledger);
    const sent = 'sent on 21 Nov 2026, 02:30 for 19 Nov 2026';
    expect(await answer('F-0')).toBe(`Checked: ${sent}; its mapping is correct. Nothing is open.`);
    expect((await look('operator', find('F-1'))).text).toContain('row 2 of the file');
    expect(await answer('F-1')).toBe(`Checked: ${sent}; affected, its mapping is incorrect. It has no case.`);
    expect(await answer('F-2')).toBe(
      `Sent ${sent.slice('sent '.length)}; unknown, the result does not name it. It has no case.`,
    );
  });

  it('names its case, and calls it settled only when booking and mapping are', async () => {
    await deliverBookings(ledger, 'r1', [someBooking({ providerHotelId: 'H-1' })]);
    await openCases(ledger, threeCases);
    const change = async (apply: (held: HeldCase) => HeldCase | undefined, at = now) => {
      await ledger.cases.changeById([1], (held) => toDecision(held, apply(held) ?? held, []));
      return (await answer('BR-1', at))?.replace(/^.*by e-mail only\. /, '');
    };
    expect(await change((held) => held)).toBe('Open: case 1; its mapping is open, this booking is open.');
    expect(await change((held) => applyCommand(held, 'report', now))).toBe(
      'Open: case 1; its mapping is reported, this booking is open.',
    );
    expect(await change((held) => applyMoves(held, [{ to: 70, seenAt: now }], now))).toBe(
      'Open: case 1; its mapping is corrected, this booking is open.',
    );
    // Nobody helped its guest, which the corrected mapping does not change.
    const stayIsOver = Date.parse('2027-03-02T12:00:00Z');
    expect(await change((held) => held, stayIsOver)).toBe(
      'Open: case 1; its mapping is corrected, this booking is left.',
    );
    const resolving = { places: new Set([1, 2, 3]), as: 'rebooked', note: undefined } as const;
    expect(await change((held) => resolveBookings(held, resolving, now))).toBe(
      'Nothing is open: the mapping of case 1 is corrected.',
    );
    expect(await change((held) => applyCommand(held, 'reopen', now))).toBe(
      'Open: case 1; its mapping is open, this booking is resolved.',
    );
    // Nobody has to act on a dismissed case.
    expect(await change((held) => applyCommand(held, 'dismiss', now))).toBe(
      'Nothing is open: the mapping of case 1 is dismissed.',
    );
  });

  it('says what was missing, and that an earlier run checked it', async () => {
    await addFileRun(ledger);
    const again = someBooking({ bookingReferenceId: 'F-0' });
    await collectBookings(ledger, 'r2', [again], { day: '2026-11-21' });
    expect(await answer('F-0')).toBe(
      'Not checked: it was not delivered for 21 Nov 2026; the run is marked delivering. It has no case.',
    );
    const words = (await look('operator', find('F-0'))).text.replace(/<[^>]*>/g, '');
    expect(words).toMatch(/Before that: *Checked: sent on .* for 19 Nov 2026; its mapping is correct/);
  });
});

it('A booking is found whatever the case of its letters, and recorded under its own reference', async () => {
  await deliverBookings(ledger, 'r1', [someBooking({ bookingReferenceId: 'br-1' })]);
  const { text, recorded } = await look('team', find('Br-1'));
  expect(text).toContain('<h1>Booking br-1</h1>');
  expect(recorded).toMatchObject([{ subject: 'br-1', details: { found: 1 } }]);
});

it('A reference that no run has is reported as unknown, and stays out of the audit trail: it may be a name', async () => {
  const { status, text, recorded } = await look('team', find('Ana Gil'));
  expect([status, text]).toEqual([200, expect.stringContaining('is in no run of this ledger')]);
  expect(recorded).toMatchObject([{ action: 'show', details: { found: 0 } }]);
  expect(JSON.stringify(recorded)).not.toContain('Gil');
});

it('A guest was erased, or removed with all names of old days', async () => {
  const hashKey = 'a key of the test, long enough';
  await ledger.guests.rememberErased([rememberReference('BR-1', hashKey, now)]);
  expect((await look('team', find('BR-1'), { hashKey })).text).toContain('erased');
  expect((await look('team', find('BR-2'), { hashKey })).text).not.toContain('erased');
  expect((await look('team', find('BR-2'))).text).toContain('Whether its guest was erased is unknown');
  await deliverBookings(ledger, 'r1', [someBooking()]);
  await ledger.guests.blankNames('2026-12-01', blankNames);
  const { url } = await startDesk({ ledger, role: 'team' });
  const guest = { state: 'removed', name: null };
  expect((await getData(url, find('BR-1'))).data).toMatchObject({ bookings: [{ guest }] });
});

it('A name may be missing because none was sent or given, or because its guest was erased', async () => {
  const hashKey = 'a key of the test, long enough';
  const nameless = (bookingReferenceId: string) => {
    const { bookingClientName, ...booking } = someBooking({ bookingReferenceId });
    return booking;
  };
  await collectBookings(ledger, 'r1', [nameless('BR-1'), nameless('BR-2')]);
  await collectBookings(ledger, 'r2', [nameless('BR-3')], { day: '2026-11-21', guestNames: 'omit' });
  await ledger.guests.rememberErased([rememberReference('BR-2', hashKey, now)]);
  const { url } = await startDesk({ ledger, role: 'team', parts: { hashKey } });
  for (const [reference, state] of [
    ['BR-1', 'not-given'],
    ['BR-2', 'erased'],
    ['BR-3', 'left-out'],
  ] as const)
    expect((await getData(url, find(reference))).data).toMatchObject({
      bookings: [{ guest: { state, name: null } }],
    });
});

it('The evidence is a file, and recorded, unless no run has the booking', async () => {
  const path = '/bookings/evidence?reference=BR-1';
  const { text, recorded } = await look('team', path);
  expect([text, recorded]).toMatchObject(['PK', [{ action: 'evidence', subject: 'BR-1' }]]);
  const none = await look('team', path, { packEvidence: async () => undefined });
  expect([none.status, none.recorded]).toEqual([404, []]);
  const record = () => Promise.reject(new Error('the disk is full'));
  const { url } = await startDesk({ ledger, role: 'team', record });
  expect((await getPage(url, path)).status).toBe(500);
});
