import { describe, expect, it } from 'vitest';
import type { DayFilters, FilterColumn, FilterValue } from '../../src/booking/source.js';
import {
  compareFilters,
  describeFilters,
  describeFilterWarnings,
  forget,
} from '../../src/rules/where-report.js';
import { seededRandom } from '../support/seed.js';

const none: string[] = [];
const today = '2026-11-20';

/** So many days before a Friday. */
function dayBefore(days: number): string {
  return new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
}

type Values = Readonly<Record<string, number>>;

/** A day of a column that leaves out `unwanted`. */
function columnOf(
  values: Values,
  { unwanted = ['storniert'], ...more }: Partial<FilterColumn> & { unwanted?: readonly string[] } = {},
): FilterColumn {
  const listed = Object.entries(values).map(
    ([value, records]): FilterValue => ({
      ...{ value, records },
      isTaken: !unwanted.includes(value),
      isNamed: unwanted.includes(value),
    }),
  );
  const sum = (isTaken: boolean) =>
    listed.reduce((total, one) => total + (one.isTaken === isTaken ? one.records : 0), 0);
  return {
    column: 'Status',
    condition: JSON.stringify({ not: unwanted }),
    isOfWords: true,
    taken: sum(true),
    leftOut: sum(false),
    values: listed,
    ...more,
  };
}

/** Alike on each of so many days before. */
function daysOf(count: number, column: FilterColumn): DayFilters[] {
  return Array.from({ length: count }, (_, index) => ({ day: dayBefore(count - index), columns: [column] }));
}

const usual = { ok: 900, storniert: 100 };
const kindsOf = (column: FilterColumn, earlier: readonly DayFilters[], day = today, exceptions = none) =>
  compareFilters(day, [column], earlier, exceptions).map(({ kind }) => kind);

describe('a value that no earlier day had', () => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`v${at}`, 40]));
  const { v19: _, ...fewer } = many;
  const noWords = { isOfWords: false };
  const eachNew = daysOf(3, columnOf({})).map((one, at) => ({
    ...one,
    columns: [columnOf({ [`a${at}`]: 2, [`b${at}`]: 1 })],
  }));
  const named = columnOf({ ok: 900, Storniert: 100 }, { unwanted: ['Storniert'] });

  it.each<[string, FilterColumn, DayFilters[], readonly string[]]>([
    ['is odd', columnOf({ ...usual, STORNO: 3 }), daysOf(8, columnOf(usual)), ['new-value']],
    ['is odd on the second day', columnOf({ ...usual, X: 1 }), daysOf(1, columnOf(usual)), ['new-value']],
    ['is not one in another case', named, daysOf(8, columnOf({ OK: 900, STORNIERT: 100 })), []],
    ['is not one that the setting names', columnOf(usual), daysOf(8, columnOf({ ok: 900 })), []],
    ['is not a missing one', columnOf({ ...usual, '': 80 }), daysOf(8, columnOf(usual)), []],
    ['is not odd among many', columnOf({ ...usual, STORNO: 90 }), daysOf(8, columnOf(many)), []],
    ['is odd among 20', columnOf({ v0: 40, STORNO: 90 }), daysOf(8, columnOf(fewer)), ['new-value']],
    [
      'is not odd where no words were known',
      columnOf({ ...usual, X: 1 }),
      daysOf(1, columnOf(usual, noWords)),
      [],
    ],
    ['is not odd where each is new', columnOf({ a3: 1, b3: 1 }), eachNew, []],
  ])('%s', (_, column, earlier, expected) => {
    expect(kindsOf(column, earlier)).toEqual(expected);
  });
});

describe('what is left out', () => {
  const few = { ok: 95, storniert: 5 };
  const twenty = { ok: 100, storniert: 20 };

  it.each<[string, Values, Values, number, readonly string[]]>([
    ['is none where each of eight days left out five', { ok: 100 }, few, 8, ['none-left-out']],
    ['may be none after seven such days', { ok: 100 }, few, 7, []],
    ['may be none on a small day', { ok: 9 }, few, 8, []],
    ['is few below half of the usual', { ok: 100, storniert: 9 }, twenty, 8, ['few-left-out']],
    ['may be half of the usual', { ok: 100, storniert: 10 }, twenty, 8, []],
    ['may be few where 19 are usual', { ok: 100, storniert: 1 }, { ok: 100, storniert: 19 }, 8, []],
    ['may be few after two days', { ok: 100, storniert: 1 }, { ok: 100, storniert: 40 }, 2, []],
    ['is few after three', { ok: 100, storniert: 1 }, { ok: 100, storniert: 40 }, 3, ['few-left-out']],
    ['is none on a day of half the size', { ok: 50 }, twenty, 8, ['none-left-out']],
  ])('%s', (_, now, before, days, expected) => {
    expect(kindsOf(columnOf(now), daysOf(days, columnOf(before)))).toEqual(expected);
  });

  const nothing = columnOf({ ok: 1_000 });

  it('is compared only with days of the same setting', () => {
    const other = columnOf(usual, { condition: '{"not":["storniert","offen"]}' });
    expect(kindsOf(nothing, daysOf(8, columnOf(usual)))).toEqual(['none-left-out']);
    expect(kindsOf(nothing, daysOf(8, other))).toEqual([]);
  });

  it('is not compared on a day that is an exception, nor with one', () => {
    const earlier = daysOf(8, columnOf(usual));
    expect(kindsOf(nothing, earlier, today, [today])).toEqual([]);
    expect(kindsOf(columnOf({ ok: 950, storniert: 50 }), [...earlier, ...daysOf(1, nothing)])).toEqual([]);
    expect(kindsOf(nothing, earlier, today, [dayBefore(3)])).toEqual(['few-left-out']);
  });

  it('may be few at a weekend, until three of its weekday are known', () => {
    const saturday = '2026-11-21';
    const quiet = columnOf({ ok: 600, storniert: 20 });
    expect(kindsOf(quiet, daysOf(8, columnOf(usual)), saturday)).toEqual([]);
    expect(kindsOf(quiet, daysOf(30, columnOf(usual)), saturday)).toEqual(['few-left-out']);
  });
});

it('a person sees what each column leaves out and takes; the ledger remembers values of lists of words only', () => {
  const { values: _, ...long } = columnOf({ a: 1 }, { column: 'Reference', isOfWords: false });
  const flag = columnOf({ false: 7 }, { column: 'Cancelled', isOfWords: false });
  const columns = [columnOf({ ok: 900, storniert: 100, '': 3 }), long, flag, columnOf({ '': 8 })];
  expect(describeFilters(columns)).toEqual([
    'Status: 100 of 1,003 records left out; "storniert" 100; taken: "ok" 900, missing 3',
    'Reference: 0 of 1 record left out; its values are not listed',
    'Cancelled: 0 of 7 records left out; taken: "false" 7',
    'Status: 0 of 8 records left out; no record has a value',
  ]);
  const guests = columnOf({ 'ann@a.example': 1, 'ben@b.example': 2, 'eve@c.example': 1 }, { column: 'Mail' });
  const family = columnOf({ 'ann@a.example': 4 }, { column: 'Mail' });
  const leads = columnOf({ 'Ann Gray': 1, 'Ben Moss': 2 }, { column: 'Lead' });
  const remembered = forget([...columns, guests, family, leads]);
  expect(remembered.map(({ values }) => values?.length)).toEqual([3, undefined, undefined, 1, ...Array(3)]);
  expect(kindsOf(guests, daysOf(1, columnOf({ 'test@a.example': 9 }, { column: 'Mail' })))).toEqual([]);
});

it('a warning says what was found, and what to do', () => {
  const value = { value: 'STORNO', records: 3, isTaken: true, isNamed: false };
  const added = { kind: 'new-value', column: 'Status' } as const;
  const warnings = [
    { ...added, value },
    { ...added, value: { ...value, records: 1, isTaken: false } },
    { kind: 'none-left-out', column: 'Status', leftOut: 0, usual: 1_000 },
    { kind: 'few-left-out', column: 'Status', leftOut: 9, usual: 20 },
  ] as const;
  const which = 'of 2026-11-20 with "STORNO" in Status, which no earlier day had,';
  expect(describeFilterWarnings(today, { columns: [], warnings })).toEqual([
    `3 records ${which} count as bookings: if that is wrong, add it to source.where`,
    `1 record ${which} is left out: if that is wrong, add it to source.where, then \`replay 2026-11-20 --late\``,
    'source.where leaves out none of 2026-11-20 by Status, usually 1,000: check how the export writes its values',
    'source.where leaves out 9 records of 2026-11-20 by Status, usually 20: check how the export writes its values',
  ]);
  expect(describeFilterWarnings(today, undefined)).toEqual([]);
});

it('no good night is odd: weekends, holidays, first days and columns of references', () => {
  const random = seededRandom(53);
  const poisson = (mean: number) => {
    let count = 0;
    for (let rest = Math.exp(-mean), product = random(); product > rest; product *= random()) count += 1;
    return count;
  };
  for (const bookings of [3, 8, 40, 200, 450]) {
    const earlier: DayFilters[] = [];
    for (let night = 40; night > 0; night -= 1) {
      const day = dayBefore(night);
      const weekday = new Date(day).getUTCDay();
      const size = night === 17 ? 0.15 : weekday === 0 || weekday === 6 ? 0.4 : 1;
      const status = { bestätigt: poisson(bookings * size), storniert: poisson(bookings * size * 0.15) };
      const references = Object.fromEntries(
        Array.from({ length: Math.ceil(bookings * size) }, (_, at) => [`BR-${night}-${at}`, 1]),
      );
      const columns = [
        columnOf(Object.fromEntries(Object.entries(status).filter(([, records]) => records > 0))),
        { ...columnOf(references), column: 'Reference' },
      ];
      expect({ bookings, day, odd: compareFilters(day, columns, earlier, none) }).toEqual({
        bookings,
        day,
        odd: [],
      });
      earlier.push({ day, columns });
    }
  }
});
