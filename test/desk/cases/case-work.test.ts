import { beforeEach, describe, expect, it } from 'vitest';
import { performRequest } from '../../../src/cases/case-requests.js';
import { openCases as openFound } from '../../../src/cases/open-cases.js';
import { readActions } from '../../../src/ledger/audit.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { RecordedAction } from '../../../src/rules/action.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { deliverBookings, someBooking } from '../some-bookings.js';
import { csrfToken, getData, getPage, now, startDesk } from '../some-desk.js';
import { addFileRun } from '../some-file-run.js';
import { hotels, loadHotels, openCases, threeCases } from './some-cases.js';

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => now);
  await openCases(ledger, threeCases);
  await loadHotels(ledger, hotels);
});
/** Sends a form as a member of the booking team. */
async function send(path: string, fields: readonly (readonly [string, string])[]) {
  const { url } = await startDesk({ ledger, role: 'team' });
  const body = new URLSearchParams({ token: csrfToken });
  for (const [name, value] of fields) body.append(name, value);
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body,
  });
  return { status: answer.status, data: await answer.json() };
}

async function readTrail(subject: string): Promise<RecordedAction[]> {
  const found: RecordedAction[] = [];
  for await (const actions of readActions(ledger.audit, { subject })) found.push(...actions);
  return found;
}

const statesOf = async (ids: readonly number[]) =>
  Promise.all(ids.map(async (id) => (await ledger.cases.find(id))?.state));

describe('a case', () => {
  it('names its guests to those who may see names, and only with a record', async () => {
    await deliverBookings(ledger, 'run', [
      someBooking({ bookingReferenceId: 'BR-1', providerHotelId: 'H-1' }),
      someBooking({ bookingReferenceId: 'BR-2', providerHotelId: 'another', bookingClientName: 'Eva Paz' }),
    ]);
    for (const role of ['team', 'operator'] as const) {
      const { url, recorded } = await startDesk({ ledger, role });
      const names = role === 'team';
      const read = [(await getPage(url, '/cases/1')).text, JSON.stringify(await getData(url, '/cases/1'))];
      for (const text of read) {
        expect([role, text.includes('Ana Gil')]).toEqual([role, names]);
        // On another hotel, it is another version of the booking.
        expect(text).not.toContain('Eva Paz');
      }
      const details = { found: 3, ...(names && { names }) };
      expect(recorded).toMatchObject([{ details }, { details }]);
    }
    const unrecorded = await startDesk({
      ...{ ledger, role: 'team' },
      record: async () => {
        throw new Error('the disk is full');
      },
    });
    expect((await getPage(unrecorded.url, '/cases/1')).status).toBe(500);
    expect((await getPage(unrecorded.url, '/cases/2')).status).toBe(200);
  });

  it('calls a booking cleared that a verdict found correct, unless its mapping is wrong for another reason', async () => {
    const { startedAt, finishedAt = 0 } = await addFileRun(ledger);
    const stays = ['F-0', 'F-1', 'F-2'].map((reference) => [reference, '2026-12-24'] as const);
    const pair = { hotel: '007', booked: 7, copy: 8, day: '2026-11-19', stays };
    await openCases(ledger, [
      // A doubt of its own collect, or from before the verdict at the latest.
      { ...pair, origin: 'suspect', at: finishedAt },
      { ...pair, booked: 17, origin: 'suspect', at: finishedAt + 1 },
      { ...pair, booked: 27, origin: 'watch', at: startedAt },
      // For another guest.
      { ...pair, booked: 37, origin: 'affected', at: startedAt },
    ]);
    const { url } = await startDesk({ ledger, role: 'viewer' });
    const read = async (id: number) => (await getPage(url, `/cases/${id}`)).text;
    expect(await read(4)).toContain('Bookings: 2 open, 1 cleared, of 3');
    expect((await read(4)).match(/cleared: the service found it correct/g)).toHaveLength(1);
    expect((await getData(url, '/cases/4')).data).toMatchObject({
      bookingList: [{ isCleared: true, state: 'open' }, {}, {}],
    });
    for (const id of [5, 6, 7]) expect(await read(id)).toContain('Bookings: 3 open of 3');
    // A mapping that moves afterwards makes that verdict worthless.
    await openCases(ledger, [{ ...pair, origin: 'watch', at: finishedAt + 1 }]);
    expect(await read(4)).toContain('Bookings: 3 open of 3');
  });

  it('calls a booking of two stays cleared only if the verdict found both correct', async () => {
    const run = await addFileRun(ledger);
    const stay = [['F-0', '2026-12-24']] as const;
    const pair = { hotel: '007', booked: 7, copy: 8, day: '2026-11-19', stays: stay };
    await openCases(ledger, [{ ...pair, origin: 'suspect', at: run.startedAt }]);
    // The result marked F-1 as incorrect: here it is the other stay of F-0.
    const judgedTwice = async (_: string, day?: string) => [
      ...(await ledger.bookings.trace('F-0', day)),
      ...(await ledger.bookings.trace('F-1', day)),
    ];
    const twice = withReplaced(ledger, { bookings: { trace: judgedTwice } });
    const { url } = await startDesk({ ledger: twice, role: 'viewer' });
    expect((await getPage(url, '/cases/4')).text).toContain('Bookings: 1 open of 1');
  });

  it('names the bookings of its history only to those who may see them', async () => {
    await deliverBookings(ledger, 'run', [someBooking({ providerHotelId: 'H-9' })]);
    const finding = { providerName: 'hotelbeds', providerHotelId: 'H-9', serviceId: 7, at: now };
    const stay = { reference: 'BR-1042', day: '2026-11-20', checkOut: '2026-12-24' };
    const opening = { ledger, today: '2026-11-21', clock: () => now };
    await openFound([{ ...finding, origin: 'affected', stay }], opening);
    for (const [role, named] of [
      ['team', 'BR-1042'],
      ['viewer', 'a booking'],
    ] as const) {
      const { url } = await startDesk({ ledger, role });
      const words = `</time> opened because the result marked ${named} as incorrect</li>`;
      expect((await getPage(url, '/cases/4')).text).toContain(words);
    }
  });

  it('shows the newest hundred entries of its history', async () => {
    for (let index = 0; index <= 100; index += 1) {
      const by = { who: 'bea', clock: () => now + index };
      await performRequest(ledger.cases, [1], { kind: 'note', note: `note ${index}` }, by);
    }
    const { url } = await startDesk({ ledger, role: 'team' });
    const { history } = (await getData(url, '/cases/1')).data as { history: readonly { at: string }[] };
    expect([history.length, Date.parse(history.at(-1)?.at ?? '')]).toEqual([100, now + 100]);
  });

  it('shows a hundred of many bookings at a time', async () => {
    const stays = Array.from({ length: 130 }, (_, index) => [`X-${index}`, '2026-12-30'] as const);
    await openCases(ledger, [{ hotel: 'big', booked: 3, copy: 4, stays }]);
    const { url } = await startDesk({ ledger, role: 'team' });
    const read = async (page: number) => (await getData(url, `/cases/4?page=${page}`)).data;
    expect(await read(1)).toMatchObject({ bookings: 130, pages: 2, bookingList: { length: 100 } });
    expect(await read(2)).toMatchObject({ page: 2, bookingList: { length: 30 } });
  });
});

describe('a change of cases', () => {
  it('says first what it will do, and then does it to all of them', async () => {
    const path = '/cases/change?do=report&id=1&id=3&provider=hotelbeds';
    const { url } = await startDesk({ ledger, role: 'team' });
    const { text } = await getPage(url, path);
    expect(text).toContain('<h1>Report 2 cases</h1>');
    expect(text).toContain('Case 3: hotelbeds H-3, open, 1 open booking');
    const next = '/cases?provider=hotelbeds';
    expect(await send(path, [['reason', 'ticket 9']])).toEqual({
      ...{ status: 200, data: { message: '2 cases are reported.', next } },
    });
    expect(await statesOf([1, 2, 3])).toEqual(['reported', 'open', 'reported']);
    expect((await ledger.cases.find(3))?.note).toBe('ticket 9');
    expect(await readTrail('case 3')).toMatchObject([
      { action: 'case-opened' },
      { who: 'ana (desk)', at: now, action: 'case-reported' },
    ]);
  });

  it('is refused for all of them, in the words of the command, if one does not allow it', async () => {
    await performRequest(ledger.cases, [3], { kind: 'dismiss' }, { who: 'bea', clock: () => now });
    const { url } = await startDesk({ ledger, role: 'team' });
    const path = '/cases/change?do=report&id=1&id=3';
    const message = 'case 3 is dismissed: reopen it first';
    expect((await getPage(url, path)).text).toContain(message);
    expect(await send(path, [])).toEqual({ status: 409, data: { error: { class: 'usage', message } } });
    expect(await statesOf([1, 3])).toEqual(['open', 'dismissed']);
  });

  it.each([
    ['do=dismiss&id=1', { reason: 'renamed' }, '/cases/1', { state: 'dismissed', note: 'renamed' }],
    ['do=assign&id=1', { assignee: ' Bea ' }, '/cases/1', { state: 'open', assignee: 'Bea' }],
    ['do=note&id=1', { reason: 'call back' }, '/cases/1', { state: 'open', note: 'call back' }],
    ['do=reopen&id=1', {}, '/cases/1', { state: 'open' }],
    // Chosen in the list, which is shown again as it was.
    ['do=report&id=1&page=1', {}, '/cases', { state: 'reported' }],
    ['do=report&id=1&id=3&assignee=-&page=2', {}, '/cases?assignee=-&page=2', { state: 'reported' }],
  ])('with %s and %j leads back to %s', async (query, fields, next, expected) => {
    const { url } = await startDesk({ ledger, role: 'team' });
    const path = `/cases/change?${query}`;
    expect((await getPage(url, path)).text).toContain(`href="${next.replace('&', '&amp;')}">Back`);
    const { status, data } = await send(path, Object.entries(fields));
    expect([status, data]).toEqual([200, { message: expect.any(String), next }]);
    expect(await ledger.cases.find(1)).toMatchObject(expected);
  });

  it('without an assignee gives the case back', async () => {
    await send('/cases/change?do=assign&id=1', [['assignee', 'Bea']]);
    const { data } = await send('/cases/change?do=assign&id=1', [['assignee', ' ']]);
    expect(data).toEqual({ message: 'Case 1 is assigned to nobody.', next: '/cases/1' });
    expect((await ledger.cases.find(1))?.assignee).toBeUndefined();
  });
});

it('Resolving says what was done for the chosen bookings, including those without a reference', async () => {
  const { url } = await startDesk({ ledger, role: 'team' });
  const { text } = await getPage(url, '/cases/1');
  expect(text).toContain('name="booking" value="3" aria-label="Choose booking 3">');
  const chosen = ['1', '3'].map((place) => ['booking', place] as const);
  expect(await send('/cases/1/resolve', [...chosen, ['as', 'rebooked'], ['reason', 'moved']])).toEqual({
    ...{ status: 200, data: { message: '2 bookings of case 1 are rebooked.', next: '/cases/1' } },
  });
  expect((await ledger.cases.find(1))?.bookings).toMatchObject([
    { reference: 'BR-1', resolved: { as: 'rebooked', note: 'moved', isAutomatic: false } },
    { reference: 'BR-2' },
    { place: 3, resolved: { as: 'rebooked' } },
  ]);
  expect((await readTrail('case 1')).at(-1)).toMatchObject({
    ...{ who: 'ana (desk)', action: 'case-resolved', details: { as: 'rebooked', bookings: 2 } },
  });
});

it('Resolving without a reason gives the booking no note, whatever the case has', async () => {
  await send('/cases/change?do=note&id=1', [['reason', 'ticket 4711']]);
  await send('/cases/1/resolve', [
    ['booking', '1'],
    ['as', 'confirmed'],
  ]);
  const { note, bookings } = (await ledger.cases.find(1)) ?? {};
  expect(note).toBe('ticket 4711');
  expect(bookings?.[0]?.resolved).toMatchObject({ as: 'confirmed' });
  expect(bookings?.[0]?.resolved?.note).toBeUndefined();
});

it.each([
  ['change?do=dismiss&id=1', {}, 400],
  ['change?do=assign&id=1', {}, 400],
  ['change?do=explode&id=1', {}, 400],
  ['change?do=report&id=99', {}, 404],
  ['1/resolve', { as: 'rebooked' }, 400],
  ['1/resolve', { booking: '1' }, 400],
  ['1/resolve', { booking: '1', as: 'lost' }, 400],
  ['1/resolve', { booking: 'BR-1', as: 'confirmed' }, 400],
  ['1/resolve', { booking: '9', as: 'confirmed' }, 409],
])('A form without what it needs does nothing: %s %j', async (path, fields, status) => {
  const before = await ledger.cases.find(1);
  expect((await send(`/cases/${path}`, Object.entries(fields))).status).toBe(status);
  expect(await ledger.cases.find(1)).toEqual(before);
});
