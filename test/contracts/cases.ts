import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkOutOf, isInHouse, urgencyOf } from '../../src/booking/stay.js';
import { searchCases } from '../../src/cases/shown-cases.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { type CaseBooking, type CaseKey, type CaseStay, stateOfBooking } from '../../src/rules/case.js';
import {
  applyCommand,
  applyEvidence,
  type Evidence,
  resolveBookings,
  toDecision,
} from '../../src/rules/case-transitions.js';
import { collectedRun, rightOf } from './ledger/days.js';
import type { OpenedLedger } from './ledger.js';
import { rowOf, syncRows } from './mapping-copy/pages.js';

const at = Date.UTC(2026, 10, 22, 5, 0);
const today = '2026-11-22';
const act = { who: 'ana', at, action: 'case-opened' } as const;

const keyOf = (providerHotelId: string, serviceId = 7): CaseKey => ({
  providerName: 'hotelbeds',
  providerHotelId,
  serviceId,
});

const stayOf = (reference: string, checkIn = '2026-12-01', checkOut = '2026-12-09'): CaseStay => ({
  reference,
  checkIn,
  checkOut,
  day: '2026-11-20',
});

function evidenceOf(stays: readonly CaseStay[], changes: Partial<Evidence> = {}): Evidence {
  return { origin: 'affected', at, references: new Set(), isBookedInCopy: true, stays, ...changes };
}

async function openOne(
  { cases }: Ledger,
  key: CaseKey,
  stays: readonly CaseStay[] = [stayOf('BR-1')],
  changes: Partial<Evidence> = {},
): Promise<number> {
  const [opened] = await cases.changeByKey([key], (held) => {
    const next = applyEvidence(held, evidenceOf(stays, changes), at);
    return next && toDecision(held, next, [act]);
  });
  if (!opened) throw new Error('expected a case, got: none');
  return opened.id;
}

/** What a list says about the bookings of a case, by the rules of a single booking. */
function summarise(bookings: readonly CaseBooking[]) {
  const states = bookings.map((booking) => stateOfBooking(booking, today));
  const open = bookings.filter((_, index) => states[index] === 'open');
  const inHouse = open.filter((booking) => isInHouse(booking, today));
  const checkIns = open.flatMap(({ checkIn }) => checkIn ?? []).sort();
  return {
    bookings: bookings.length,
    openBookings: open.length,
    leftBookings: states.filter((state) => state === 'left').length,
    inHouse: inHouse.length,
    inHouseUntil: inHouse
      .flatMap((booking) => checkOutOf(booking) ?? [])
      .sort()
      .at(-1),
    firstCheckIn: checkIns[0],
    firstCheckOut:
      open
        .filter(({ checkIn }) => checkIn === checkIns[0] && checkIn !== undefined)
        .map((booking) => checkOutOf(booking) ?? '')
        .sort()[0] || undefined,
    nextCheckIn: checkIns.find((checkIn) => checkIn >= today),
    hasUnknownCheckIn: open.length > checkIns.length,
  };
}

/** The contract of every adapter of the cases. */
export function describeCasesContract(
  name: string,
  { open }: { readonly open: () => Promise<OpenedLedger> },
): void {
  describe(`the contract of the cases: ${name}`, () => {
    let opened: OpenedLedger;
    let ledger: Ledger;
    beforeEach(async () => {
      opened = await open();
      ledger = opened.ledger;
    });
    afterEach(() => opened.cleanUp());

    it('stores decisions on a case for every process, and records who made them', async () => {
      const key = keyOf(`007${'x'.repeat(4_000)}`, 9_007_199_254_740_991);
      const stays = [stayOf('BR-1'), { day: '2026-11-20' }];
      const id = await openOne(ledger, key, stays, { origin: 'watch', move: 're-pointed' });
      expect(id).toBe(1);
      const { cases } = await opened.reopen();
      expect(await cases.find(id)).toEqual({
        id,
        ...key,
        ...{ state: 'open', stateSince: at, origins: ['watch'], move: 're-pointed' },
        ...{ openedAt: at, evidenceAt: at, watchedSince: at },
        bookings: [
          { place: 1, ...stayOf('BR-1'), addedAt: at, isNamed: false },
          { place: 2, day: '2026-11-20', addedAt: at, isNamed: false },
        ],
      });
      expect(await cases.find(2)).toBeUndefined();
      expect((await ledger.audit.nextActions({ subject: 'case 1' }))?.actions).toMatchObject([
        { who: 'ana', action: 'case-opened' },
      ]);
    });

    it('has one case for each hotel and booked master hotel, and finds their ids', async () => {
      const keys = [keyOf('1'), keyOf('1', 8), keyOf('01'), { ...keyOf('1'), providerName: 'hotelbeds ' }];
      for (const key of [...keys, ...keys])
        await openOne(ledger, key, [stayOf('BR-1'), stayOf(`BR-${key.serviceId}`)]).catch(() => 0);
      const found = await ledger.cases.findByKeys([...keys, keyOf('2')]);
      expect(found.map((item) => item?.id)).toEqual([1, 2, 3, 4, undefined]);
      expect(found[1]).toMatchObject({ ...keys[1], state: 'open' });
    });

    it('changes a case and single bookings of it, and nothing where nothing is decided', async () => {
      const id = await openOne(ledger, keyOf('1'), [stayOf('BR-1'), stayOf('BR-2')]);
      const { cases } = ledger;
      const changed = await cases.changeById([id, 99], (held) => {
        const reported = applyCommand(held, 'report', at + 1) ?? held;
        const noted = { ...reported, assignee: 'Bea', note: 'called\0' };
        const next = resolveBookings(noted, { places: new Set([2]), as: 'cancelled', note: 'ok' }, at + 2);
        return toDecision(held, next, [{ ...act, action: 'case-resolved', subject: 'BR-2' }]);
      });
      expect(changed).toMatchObject([{ id, state: 'reported' }]);
      expect(await cases.changeById([id], () => undefined)).toEqual([]);
      expect(await cases.find(id)).toMatchObject({
        ...{ state: 'reported', stateSince: at + 1, assignee: 'Bea', note: 'called\ufffd' },
        bookings: [
          { place: 1, reference: 'BR-1' },
          { place: 2, resolved: { as: 'cancelled', at: at + 2, note: 'ok', isAutomatic: false } },
        ],
      });
      expect(await cases.findBookings('BR-2')).toMatchObject([{ id, booking: { place: 2 } }]);
      expect((await ledger.audit.nextActions({ subject: 'BR-2' }))?.actions).toHaveLength(1);
    });

    it('finds a whole reference whatever the case of its letters', async () => {
      for (const [place, reference] of ['BR-É1', 'Br-é1', 'br-e1', 'straße', 'B%-1', 'Bé!_'].entries())
        await openOne(ledger, keyOf(String(place)), [stayOf(reference)]);
      const find = async (text: string) => {
        const search = { state: 'all', text, findsReferences: true, today } as const;
        return (await searchCases(ledger, search, at)).cases.map(({ id }) => id);
      };
      expect(await find('br-é1')).toEqual([1, 2]);
      expect(await find('STRAßE')).toEqual([4]);
      expect(await find('b%-1')).toEqual([5]);
      expect(await find('B')).toEqual([]);
    });

    it('applies decisions one after the other, whoever writes', async () => {
      const other = await opened.reopen();
      await Promise.all(
        [ledger, other, ledger, other].map((each, index) =>
          openOne(each, keyOf('1'), [stayOf(`BR-${index}`)]),
        ),
      );
      expect((await ledger.cases.find(1))?.bookings.map(({ place }) => place)).toEqual([1, 2, 3, 4]);
      expect(await ledger.cases.findByKeys([keyOf('1')])).toMatchObject([{ id: 1 }]);
    });

    it('lists cases with open bookings, or by state, provider, or check-in before a day', async () => {
      await openOne(ledger, keyOf('1'), [stayOf('BR-1', '2026-12-05'), stayOf('BR-2', '2026-12-03')]);
      await openOne(ledger, keyOf('2'), [stayOf('BR-3', '2026-11-19', '2026-11-21')]);
      await openOne(ledger, { ...keyOf('3'), providerName: 'other' }, [
        { reference: 'BR-4', day: '2026-11-20' },
      ]);
      await ledger.cases.changeById([3], (held) =>
        toDecision(held, applyCommand(held, 'dismiss', at) ?? held, []),
      );
      const { cases } = ledger;
      const list = async (filter: object) => (await cases.list({ today, ...filter })).map(({ id }) => id);
      expect(await cases.list({ today })).toMatchObject([
        { id: 1, bookings: 2, openBookings: 2, firstCheckIn: '2026-12-03', hasUnknownCheckIn: false },
        { id: 3, bookings: 1, openBookings: 1, hasUnknownCheckIn: true },
      ]);
      expect(await list({ state: 'open' })).toEqual([1, 2]);
      expect(await list({ state: 'dismissed' })).toEqual([3]);
      expect(await list({ state: 'all' })).toEqual([1, 2, 3]);
      expect(await list({ state: 'all', ids: [3, 2, 99] })).toEqual([2, 3]);
      expect(await list({ ids: [] })).toEqual([]);
      expect(await list({ provider: 'other' })).toEqual([3]);
      expect(await list({ day: '2026-11-20' })).toEqual(await list({}));
      expect(await list({ day: '2026-11-19' })).toEqual([]);
      expect(await list({ day: '2026-11-20', state: 'dismissed', ids: [1, 3], provider: 'other' })).toEqual([
        3,
      ]);
      expect(await list({ day: '2026-11-20', state: 'all', checkInBefore: '2026-12-04' })).toEqual([1, 3]);
      expect(await list({ checkInBefore: '2026-12-03' })).toEqual([3]);
      expect(await list({ checkInBefore: '2026-12-04' })).toEqual([1, 3]);
      expect(await list({ today: '2026-11-21' })).toEqual([1, 2, 3]);
      expect(await list({ today: '2026-12-09' })).toEqual([1, 3]);
      expect(await list({ today: '2026-12-10' })).toEqual([3]);
      expect(await list({ left: true })).toEqual([2]);
      expect(await list({ left: true, today: '2026-12-10' })).toEqual([1, 2]);
      expect(await list({ left: true, today: '2026-12-10', provider: 'other' })).toEqual([]);
      expect(await list({ left: true, day: '2026-11-20' })).toEqual([2]);
      expect(await list({ left: true, day: '2026-11-19' })).toEqual([]);
      await cases.changeById([2], (held) => toDecision(held, applyCommand(held, 'dismiss', at) ?? held, []));
      expect(await list({ left: true })).toEqual([]);
      expect(await list({ left: true, state: 'dismissed' })).toEqual([2]);
    });

    it('counts a booking as open by the same rule as a case that is read: until its check-out', async () => {
      const { cases } = ledger;
      const days = ['2026-10-22', '2026-10-23', '2026-10-24', '2026-11-21', today, '2026-11-23', undefined];
      const stays = days.flatMap((checkIn) =>
        days.map((checkOut) => ({
          ...(checkIn !== undefined && { checkIn }),
          ...(checkOut !== undefined && { checkOut }),
        })),
      );
      const dated = stays.map((stay, index) => ({ reference: `BR-${index}`, day: '2026-10-20', ...stay }));
      for (const [index, stay] of dated.entries()) await openOne(ledger, keyOf(`${index}`), [stay]);
      const all = await openOne(ledger, keyOf('all'), dated);
      await openOne(ledger, keyOf('dismissed'), dated);
      await cases.changeById([all + 1], (held) =>
        toDecision(held, applyCommand(held, 'dismiss', at) ?? held, []),
      );
      await cases.changeById([all], (held) => {
        const places = new Set(dated.flatMap((_, index) => (index % 5 === 0 ? [index + 1] : [])));
        return toDecision(held, resolveBookings(held, { places, as: 'rebooked' }, at), []);
      });
      for (const item of await cases.list({ state: 'all', today })) {
        const { bookings = [] } = (await cases.find(item.id)) ?? {};
        const { id, providerName, providerHotelId, serviceId, ...rest } = item;
        expect({ ...rest, ...summarise(bookings) }).toEqual(rest);
      }
      const active = await Promise.all((await cases.listActive()).map(({ id }) => cases.find(id)));
      const states = active.flatMap((item) =>
        (item?.bookings ?? []).map((booking) => ({ booking, state: stateOfBooking(booking, today) })),
      );
      const open = states.flatMap(({ booking, state }) => (state === 'open' ? [booking] : []));
      const countOf = (wanted: string) => states.filter(({ state }) => state === wanted).length;
      expect(await cases.count(today)).toMatchObject({
        ...{ byState: { open: dated.length + 1, dismissed: 1 }, openBookings: open.length },
        unknownCheckIns: open.filter(({ checkIn }) => checkIn === undefined).length,
        inHouse: open.filter((booking) => isInHouse(booking, today)).length,
      });
      const ofDay = { open: open.length, resolved: countOf('resolved'), left: countOf('left') };
      expect(await cases.countOfDay('2026-10-20', today)).toEqual(ofDay);
      expect(await cases.countOfDay('2026-10-19', today)).toEqual({ open: 0, resolved: 0, left: 0 });
      expect(await cases.countUnresolvedByDay()).toEqual(
        new Map([['2026-10-20', states.length - ofDay.resolved]]),
      );
      const urgencies = active.flatMap((item) => {
        const [first] = (item?.bookings ?? [])
          .filter((booking) => stateOfBooking(booking, today) === 'open')
          .map((booking) => urgencyOf(booking, today))
          .sort();
        return item && first !== undefined ? [{ id: item.id, urgency: first }] : [];
      });
      expect(await cases.rankOpen(today)).toEqual(
        urgencies.sort((one, other) =>
          one.urgency < other.urgency ? -1 : one.urgency > other.urgency ? 1 : one.id - other.id,
        ),
      );
      const next = await cases.findNextReferences([dated.length + 1], today);
      const unresolved = dated.filter((_, index) => index % 5 > 0);
      const urgent = unresolved.toSorted((a, b) => (urgencyOf(a, today) < urgencyOf(b, today) ? -1 : 1))[0];
      expect(urgent && urgencyOf(urgent, today)).toBe(`02026-10-22`);
      expect(unresolved.find(({ reference }) => reference === next.get(dated.length + 1))?.checkIn).toBe(
        '2026-10-22',
      );
    });

    it('lists the cases that were opened between two instants', async () => {
      const { cases } = ledger;
      for (const [index, hotel] of ['1', '2', '3', '4'].entries())
        await cases.changeByKey([keyOf(hotel)], (held) => {
          const next = applyEvidence(held, evidenceOf([stayOf('BR-1')]), at + index);
          return next && toDecision(held, next, []);
        });
      const opened = await cases.listOpened({ from: at + 1, to: at + 2 });
      expect(opened.map(({ id, openedAt }) => [id, openedAt - at])).toEqual([
        [2, 1],
        [3, 2],
      ]);
    });

    it('finds the active cases whose mapping moved after their evidence', async () => {
      const { mappings, cases } = ledger;
      await syncRows(mappings, [rowOf('1', 7), rowOf('2', 7), rowOf('3', 7)], at - 9);
      await syncRows(mappings, [rowOf('1', 8)], at);
      for (const hotel of ['1', '2', '3']) await openOne(ledger, keyOf(hotel));
      expect(await cases.listMoved()).toEqual([]);
      await syncRows(mappings, [rowOf('1', 9), rowOf('2', 7, { isDeleted: true }), rowOf('3', 9)], at + 1);
      await syncRows(mappings, [rowOf('2', 5)], at + 2);
      await cases.changeById([3], (held) => toDecision(held, applyCommand(held, 'dismiss', at) ?? held, []));
      expect(await cases.listMoved()).toEqual([
        { id: 1, moves: [{ to: 9, seenAt: at + 1 }] },
        { id: 2, moves: [{ seenAt: at + 1 }, { to: 5, seenAt: at + 2 }] },
      ]);
      expect((await cases.listActive()).map(({ id }) => id)).toEqual([1, 2]);
    });

    it('finds cases that were reported long ago, and open bookings by their references', async () => {
      const { cases } = ledger;
      await openOne(ledger, keyOf('1'), [
        stayOf('BR-1'),
        { day: '2026-11-20' },
        stayOf('BR-2', '2026-11-20', '2026-11-21'),
        stayOf('BR-3', '2026-11-21'),
      ]);
      await cases.changeById([1], (held) => toDecision(held, applyCommand(held, 'report', at) ?? held, []));
      expect(await cases.listReported(at - 1)).toEqual([]);
      expect(await cases.listReported(at)).toEqual([1]);
      expect(await cases.listOpenReferences(today, { limit: 9 })).toMatchObject([
        { id: 1, place: 1, reference: 'BR-1' },
        { id: 1, place: 4, reference: 'BR-3' },
      ]);
      const behind = { after: { id: 1, place: 1 }, limit: 1 };
      expect(await cases.listOpenReferences(today, behind)).toMatchObject([{ place: 4 }]);
    });

    it('erases a booking, or only what was written about it', async () => {
      const { cases } = ledger;
      await openOne(ledger, keyOf('1'), [stayOf('BR-1'), stayOf('BR-2')]);
      await cases.changeById([1], (held) => {
        const places = new Set([1, 2]);
        return toDecision(held, resolveBookings(held, { places, as: 'rebooked', note: 'Ana' }, at), []);
      });
      expect(await cases.eraseNotes('BR-1')).toBe(1);
      expect(await cases.eraseNotes('BR-1')).toBe(0);
      expect(await cases.eraseReference('BR-2')).toBe(1);
      const held = await cases.find(1);
      expect(held?.bookings).toMatchObject([{ reference: 'BR-1', resolved: { as: 'rebooked' } }]);
      expect(JSON.stringify(held)).not.toMatch(/Ana|BR-2/);
      await openOne(ledger, keyOf('1'), [stayOf('BR-3')]);
      expect((await cases.find(1))?.bookings).toHaveLength(2);
    });

    it('removes the bookings of old days, and then the cases that are left empty and have not changed since', async () => {
      const { cases } = ledger;
      await openOne(ledger, keyOf('1'), [stayOf('BR-1')]);
      await openOne(ledger, keyOf('2'), [stayOf('BR-2'), { ...stayOf('BR-3'), day: '2026-11-25' }]);
      await openOne(ledger, keyOf('3'), [stayOf('BR-4')]);
      await cases.changeById([3], (held) =>
        toDecision(held, applyCommand(held, 'report', Date.parse('2026-11-24')) ?? held, []),
      );
      const run = await collectedRun(ledger, 'r1');
      await cases.markFollowed({ runId: 'r1', verdictsRecorded: 0 });
      await ledger.runs.settle(rightOf(run), { state: 'cancelled', at });
      await ledger.guests.prune('2026-11-20');
      expect((await cases.find(1))?.bookings).toHaveLength(1);
      await ledger.guests.prune('2026-11-24');
      expect(await cases.find(1)).toBeUndefined();
      expect((await cases.find(2))?.bookings).toMatchObject([{ reference: 'BR-3' }]);
      expect(await cases.find(3)).toMatchObject({ state: 'reported', bookings: [] });
      expect(await cases.listRunsToFollow()).toEqual([]);
    });
  });
}
