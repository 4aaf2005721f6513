import { describe, expect, it } from 'vitest';
import { toCaseFinding } from '../../src/cases/open-cases.js';
import type { CaseBooking, CaseStay, HeldCase } from '../../src/rules/case.js';
import { addStays, applyVersions, mergeStays, type NewerVersion } from '../../src/rules/case-transitions.js';

const day = '2026-11-20';
const stay: CaseStay = { reference: 'BR-1', checkIn: '2026-12-01', checkOut: '2026-12-05', day };
const { reference: _, ...unnamedStay } = stay;

function caseOf(...bookings: readonly Partial<CaseBooking>[]): HeldCase {
  return {
    ...{ id: 1, providerName: 'hotelbeds', providerHotelId: '007', serviceId: 7 },
    ...{ state: 'open', stateSince: 100, origins: ['affected'], openedAt: 100, evidenceAt: 100 },
    bookings: bookings.map((booking, index) => ({
      ...{ place: index + 1, addedAt: 100, isNamed: false },
      ...stay,
      ...booking,
    })),
  };
}

const add = (held: HeldCase, stays: readonly CaseStay[], named: readonly string[] = []) =>
  addStays(held, { stays, references: new Set(named) }, 200);

it('a finding has no date that is implausible for its day, and opens a case until it is resolved', () => {
  const booking = { serviceId: 7, providerName: 'hotelbeds', providerHotelId: '007' };
  const about = { origin: 'affected', at: 1, day, today: '2027-06-01' } as const;
  const find = (checkInDate: string, checkOutDate: string) =>
    toCaseFinding({ ...booking, checkInDate, checkOutDate }, about);
  expect(find('2026-12-01', '2026-12-05')).toEqual([]);
  expect(find('2026-12-01', '9999-12-31')).toEqual([]);
  expect(find('1900-01-01', '2206-12-05')).toEqual([
    { ...booking, origin: 'affected', at: 1, stay: { day } },
  ]);
});

describe('stays of one booking', () => {
  it('are one, from the first check-in to the last check-out, in the latest version, where the first stood', () => {
    const other = { ...stay, reference: 'BR-2' };
    const rooms = [
      stay,
      other,
      { ...stay, checkIn: '2026-11-30', checkOut: '2026-12-09', day: '2026-11-21' },
      { ...stay, checkIn: '2026-12-02', checkOut: '2026-12-04', day: '2026-11-19' },
    ];
    const joined = { ...stay, checkIn: '2026-11-30', checkOut: '2026-12-09', day: '2026-11-21' };
    expect(mergeStays(rooms)).toEqual([joined, other]);
  });

  it('have the dates of those that have any', () => {
    const dateless = { reference: 'BR-1', day };
    expect(mergeStays([dateless, stay])).toEqual([stay]);
    expect(mergeStays([stay, dateless])).toEqual([stay]);
    expect(mergeStays([dateless, dateless])).toEqual([dateless]);
  });
});

describe('a stay that is found', () => {
  it('takes the next place, whether or not known ones are found with it', () => {
    const added = add(caseOf({}), [stay, { reference: 'BR-3', day }]);
    expect(added.bookings.map(({ place }) => place)).toEqual([1, 2]);
  });

  it('opens a booking again that a newer version had resolved, and none that a person did', () => {
    const resolved = { as: 'rebooked', at: 150, isAutomatic: true } as const;
    expect(add(caseOf({ resolved }), [stay]).bookings[0]).not.toMatchObject({ resolved });
    const byPerson = caseOf({ resolved: { ...resolved, isAutomatic: false } });
    expect(add(byPerson, [stay])).toBe(byPerson);
  });

  it('without a reference is another one on another day or with other dates, and each is found once', () => {
    const held = add(caseOf(), [unnamedStay]);
    const others = [{ day: '2026-11-21' }, { checkIn: '2026-12-02' }, { checkOut: '2026-12-06' }];
    for (const other of others) expect(add(held, [{ ...unnamedStay, ...other }]).bookings).toHaveLength(2);
    expect(add(held, [unnamedStay, unnamedStay]).bookings).toHaveLength(2);
  });

  it.each([
    ['a later day', { day: '2026-11-21' }],
    ['another check-in', { checkIn: '2026-12-02' }],
    ['another check-out', { checkOut: '2026-12-06' }],
  ])('brings %s, keeps whether a verdict had named it, and what a person said', (_, changes) => {
    const resolved = { as: 'confirmed', at: 150, isAutomatic: false } as const;
    const held = caseOf({ isNamed: true, resolved });
    expect(add(held, [{ ...stay, ...changes }]).bookings).toEqual([
      { place: 1, addedAt: 100, isNamed: true, resolved, ...stay, ...changes },
    ]);
  });

  it('is named from the first verdict on, also by a verdict about an older version', () => {
    const named = [expect.objectContaining({ isNamed: true, day })];
    expect(add(caseOf({}), [stay], ['BR-1']).bookings).toEqual(named);
    const older = { ...stay, day: '2026-11-19', checkIn: '2026-12-03' };
    const held = add(caseOf({}), [older], ['BR-1']);
    expect(held.bookings).toEqual([{ place: 1, addedAt: 100, isNamed: true, ...stay }]);
    expect(add(held, [older], ['BR-1'])).toBe(held);
    const unnamed = caseOf({});
    expect(add(unnamed, [older])).toBe(unnamed);
  });
});

describe('a newer version', () => {
  const version = (changes: Partial<NewerVersion>): NewerVersion => ({
    ...stay,
    reference: 'BR-1',
    isHere: false,
    ...changes,
  });

  it('of the same day resolves its booking if that has another hotel now', () => {
    const held = caseOf({}, { reference: 'BR-2' });
    const { bookings } = applyVersions(held, [version({})], 300);
    expect(bookings[0]?.resolved).toMatchObject({ as: 'rebooked', at: 300 });
    expect(bookings[1]).toEqual(held.bookings[1]);
  });

  it('resolves nothing if the booking is at this hotel too, and adds no booking to the case', () => {
    const held = caseOf({});
    const both = [version({}), version({ isHere: true })];
    expect(applyVersions(held, both, 300)).toBe(held);
    expect(applyVersions(held, [version({ reference: 'BR-2', isHere: true })], 300)).toBe(held);
  });
});
