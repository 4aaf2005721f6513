import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { performRequest } from '../../../src/cases/case-requests.js';
import { openCases as openFound } from '../../../src/cases/open-cases.js';
import { readActions } from '../../../src/ledger/audit.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { RecordedAction } from '../../../src/rules/action.js';
import type { Role } from '../../../src/storage/access/roles.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { deliverBookings, someBooking } from '../some-bookings.js';
import { csrfToken, getData, getPage, now, startDesk, stopServers } from '../some-desk.js';
import { addFileRun } from '../some-file-run.js';
import { hotels, loadHotels, openCases, type SomeCase, threeCases } from './some-cases.js';

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => now);
  await openCases(ledger, threeCases);
  await loadHotels(ledger, hotels);
});
afterEach(stopServers);

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

const asBea = { who: 'bea', clock: () => now };

const statesOf = async (ids: readonly number[]) =>
  Promise.all(ids.map(async (id) => (await ledger.cases.find(id))?.state));

describe('a case', () => {
  it('names its guests to those who may see names, and only with a record', async () => {
    await deliverBookings(ledger, 'run', [
      someBooking({ bookingReferenceId: 'BR-1', providerHotelId: 'H-1' }),
      someBooking({ bookingReferenceId: 'BR-2', providerHotelId: 'another', bookingClientName: 'Eva Paz' }),
    ]);
    for (const [role, names] of [
      ['team', true],
      ['operator', false],
      ['viewer', false],
    ] as const) {
      const { url, recorded } = await startDesk({ ledger, role });
      const { text } = await getPage(url, '/cases/1');
      expect([role, text.includes('Ana Gil')]).toEqual([role, names]);
      // On another hotel, it is another version of the booking.
      expect(text).not.toContain('Eva Paz');
      const { data } = await getData(url, '/cases/1');
      expect([role, JSON.stringify(data).includes('Ana Gil')]).toEqual([role, names]);
      expect(recorded.map(({ details }) => details)).toEqual([
        { found: 3, ...(names && { names }) },
        { found: 3, ...(names && { names }) },
      ]);
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

  it('shows a booking that a verdict cleared as cleared, to everybody, and only a doubt of before is cleared', async () => {
    const run = await addFileRun(ledger);
    const { startedAt, finishedAt = 0 } = run;
    const stays = ['F-0', 'F-1', 'F-2'].map((reference) => [reference, '2026-12-24'] as const);
    const pair = { hotel: '007', booked: 7, copy: 8, day: '2026-11-19', stays };
    const read = async (changes: Partial<SomeCase>) => {
      await openCases(ledger, [{ ...pair, ...changes }]);
      const { url } = await startDesk({ ledger, role: 'viewer' });
      return { url, ...(await getPage(url, '/cases/4')) };
    };
    const { url, text } = await read({ origin: 'suspect', at: startedAt });
    expect(text).toContain('Bookings: 2 open, 1 cleared, of 3');
    expect(text.match(/cleared: the service found it correct/g)).toHaveLength(1);
    const { data } = await getData(url, '/cases/4');
    expect(data).toMatchObject({ bookingList: [{ isCleared: true, state: 'open' }, {}, {}] });
    // A mapping that moves afterwards makes that verdict worthless.
    expect((await read({ origin: 'watch', at: finishedAt + 1 })).text).toContain('Bookings: 3 open of 3');
  });

  it.each([
    ['that moved', { origin: 'watch' }],
    ['doubted after its result', { origin: 'suspect', isLater: true }],
    ['that a result found incorrect for another guest', { origin: 'affected' }],
  ] as const)('never calls a booking cleared on a mapping %s', async (_, { origin, ...when }) => {
    const { startedAt, finishedAt = 0 } = await addFileRun(ledger);
    const at = 'isLater' in when ? finishedAt + 1 : startedAt;
    const stays = [['F-0', '2026-12-24']] as const;
    await openCases(ledger, [{ hotel: '007', booked: 7, copy: 8, day: '2026-11-19', stays, origin, at }]);
    const { url } = await startDesk({ ledger, role: 'viewer' });
    expect((await getPage(url, '/cases/4')).text).toContain('Bookings: 1 open of 1');
  });

  it('tells its history in sentences, with references only for those who may see them', async () => {
    await deliverBookings(ledger, 'run', [
      someBooking({ bookingReferenceId: 'BR-1042', providerHotelId: 'H-9', checkOutDate: '2026-12-24' }),
    ]);
    const finding = { providerName: 'hotelbeds', providerHotelId: 'H-9', serviceId: 7, at: now };
    const stay = { reference: 'BR-1042', day: '2026-11-20' };
    await openFound([{ ...finding, origin: 'affected', stay }], {
      ledger,
      today: '2026-11-21',
      clock: () => now,
    });
    for (const request of [
      { kind: 'assign', assignee: 'Bea' },
      { kind: 'assign', assignee: undefined },
      { kind: 'resolve', bookings: ['BR-1042'], as: 'rebooked' },
    ] as const)
      await performRequest(ledger.cases, [4], request, asBea);
    const sentences = async (role: Role) => {
      const { url } = await startDesk({ ledger, role });
      const [, history = ''] = (await getPage(url, '/cases/4')).text.split('<h2>History</h2>');
      return [...history.matchAll(/<li><time[^>]*>([^<]*)<\/time> ([^<]*)<\/li>/g)].map(
        ([, , words]) => words,
      );
    };
    const later = ['bea marked 1 booking as rebooked', 'bea assigned it to nobody', 'bea assigned it to Bea'];
    const why = 'opened because the result marked BR-1042 as incorrect';
    expect(await sentences('team')).toEqual([...later, why]);
    expect(await sentences('viewer')).toEqual([...later, why.replace('BR-1042', 'a booking')]);
  });

  it('shows a hundred of many bookings at a time', async () => {
    const stays = Array.from({ length: 130 }, (_, index) => [`X-${index}`, '2026-12-30'] as const);
    await openCases(ledger, [{ hotel: 'big', booked: 3, copy: 4, stays }]);
    const { url } = await startDesk({ ledger, role: 'team' });
    const read = async (page: number) => (await getData(url, `/cases/4?page=${page}`)).data;
    expect(await read(1)).toMatchObject({ bookings: 130, pages: 2, bookingList: { length: 100 } });
    expect(await read(2)).toMatchObject({ page: 2, bookingList: { length: 30 } });
    expect((await getPage(url, '/cases/4')).text.length).toBeLessThan(100_000);
  });
});

describe('a change of cases', () => {
  it('says first what it will do, and then does it to all of them', async () => {
    const { url } = await startDesk({ ledger, role: 'team' });
    const preview = await getPage(url, '/cases/change?do=report&id=1&id=3&provider=hotelbeds');
    expect(preview.text).toContain('<h1>Report 2 cases</h1>');
    expect(preview.text).toContain('Case 3: hotelbeds H-3, open, 1 open booking');
    expect(
      await send('/cases/change?do=report&id=1&id=3&provider=hotelbeds', [['reason', 'ticket 9']]),
    ).toEqual({
      status: 200,
      data: { message: '2 cases are reported.', next: '/cases?provider=hotelbeds' },
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
    expect((await getPage(url, path)).text).toContain('case 3 is dismissed: reopen it first');
    expect(await send(path, [])).toEqual({
      status: 409,
      data: { error: { class: 'usage', message: 'case 3 is dismissed: reopen it first' } },
    });
    expect(await statesOf([1, 3])).toEqual(['open', 'dismissed']);
  });

  it.each([
    ['do=dismiss&id=1', [['reason', 'renamed']], { state: 'dismissed', note: 'renamed' }],
    ['do=assign&id=1', [['assignee', ' Bea ']], { state: 'open', assignee: 'Bea' }],
    ['do=note&id=1', [['reason', 'call back']], { state: 'open', note: 'call back' }],
    ['do=reopen&id=1', [], { state: 'open' }],
  ] as const)('with %s changes one, and leads back to it', async (query, fields, expected) => {
    const { status, data } = await send(`/cases/change?${query}`, fields);
    expect([status, data]).toEqual([200, { message: expect.any(String), next: '/cases/1' }]);
    expect(await ledger.cases.find(1)).toMatchObject(expected);
  });

  it('without an assignee gives the case back', async () => {
    await performRequest(ledger.cases, [1], { kind: 'assign', assignee: 'Bea' }, asBea);
    const { data } = await send('/cases/change?do=assign&id=1', [['assignee', ' ']]);
    expect(data).toEqual({ message: 'Case 1 is assigned to nobody.', next: '/cases/1' });
    expect((await ledger.cases.find(1))?.assignee).toBeUndefined();
  });

  it.each([
    ['id=1&provider=hotelbeds', '/cases?provider=hotelbeds'],
    ['id=1&page=1', '/cases'],
    ['id=1&id=3&assignee=-&page=2', '/cases?assignee=-&page=2'],
  ])('of cases chosen in the list leads back to the list as it was: %s', async (query, list) => {
    const { url } = await startDesk({ ledger, role: 'team' });
    const path = `/cases/change?do=report&${query}`;
    expect((await getPage(url, path)).text).toContain(`href="${list.replace('&', '&amp;')}">Back`);
    expect((await send(path, [])).data).toMatchObject({ next: list });
  });

  it.each([
    ['do=dismiss&id=1', 400],
    ['do=assign&id=1', 400],
    ['do=explode&id=1', 400],
    ['do=report&id=99', 404],
  ])('without what it needs does nothing: %s', async (query, status) => {
    expect((await send(`/cases/change?${query}`, [])).status).toBe(status);
    expect(await readTrail('case 1')).toHaveLength(1);
  });
});

describe('resolving bookings', () => {
  it('says what was done for the chosen ones, including those without a reference', async () => {
    const { url } = await startDesk({ ledger, role: 'team' });
    const { text } = await getPage(url, '/cases/1');
    expect(text).toContain('name="booking" value="3" aria-label="Choose booking 3">');
    const done = await send('/cases/1/resolve', [
      ...[['booking', '1'] as const, ['booking', '3'] as const],
      ...[['as', 'rebooked'] as const, ['reason', 'moved'] as const],
    ]);
    expect(done).toEqual({
      status: 200,
      data: { message: '2 bookings of case 1 are rebooked.', next: '/cases/1' },
    });
    expect((await ledger.cases.find(1))?.bookings).toMatchObject([
      { reference: 'BR-1', resolved: { as: 'rebooked', note: 'moved', isAutomatic: false } },
      { reference: 'BR-2' },
      { place: 3, resolved: { as: 'rebooked' } },
    ]);
    expect((await readTrail('case 1')).at(-1)).toMatchObject({
      ...{ who: 'ana (desk)', action: 'case-resolved', details: { as: 'rebooked', bookings: 2 } },
    });
    expect(await readTrail('BR-1')).toMatchObject([{ action: 'case-resolved', details: { case: 1 } }]);
  });

  it.each([
    [[['as', 'rebooked']], 400],
    [[['booking', '1']], 400],
    [
      [
        ['booking', '1'],
        ['as', 'lost'],
      ],
      400,
    ],
    [
      [
        ['booking', 'BR-1'],
        ['as', 'confirmed'],
      ],
      400,
    ],
    [
      [
        ['booking', '9'],
        ['as', 'confirmed'],
      ],
      409,
    ],
  ] as const)('with %j does nothing', async (fields, status) => {
    expect((await send('/cases/1/resolve', fields)).status).toBe(status);
    expect((await ledger.cases.find(1))?.bookings.filter(({ resolved }) => resolved)).toEqual([]);
  });
});
