import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isTimeZone } from '../../src/base/geography.js';
import {
  businessDayAt,
  countDays,
  createBusinessDay,
  goBack,
  holdsInstants,
  isCalendarDay,
  isDayPattern,
  lastDayBefore,
  listDays,
  readInstant,
} from '../../src/booking/business-day.js';

const hour = 3_600_000;

function lengthInHours(iso: string, zone: string): number {
  const day = createBusinessDay(iso, zone);
  return (day.lastInstant.getTime() - day.firstInstant.getTime() + 1) / hour;
}

/** Reads the zone's clock independently of the code under test. */
function readClock(instant: Date, zone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(
    instant,
  );
}

const hosts = ['UTC', 'America/Sao_Paulo', 'Pacific/Apia', 'Asia/Kathmandu', 'Europe/Madrid'];

describe.each(hosts)('a business day, on a machine in %s', (host) => {
  const before = process.env.TZ;
  beforeAll(() => {
    process.env.TZ = host;
  });
  afterAll(() => {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  });

  it.each([
    ['2026-11-20', 'Europe/Madrid', '2026-11-19T23:00:00.000Z', '2026-11-20T22:59:59.999Z'],
    ['2026-11-20', 'Asia/Kathmandu', '2026-11-19T18:15:00.000Z', '2026-11-20T18:14:59.999Z'],
    ['2027-01-01', 'Pacific/Auckland', '2026-12-31T11:00:00.000Z', '2027-01-01T10:59:59.999Z'],
    // The clocks change within the day.
    ['2026-03-29', 'Europe/Madrid', '2026-03-28T23:00:00.000Z', '2026-03-29T21:59:59.999Z'],
    ['2026-10-25', 'Europe/Madrid', '2026-10-24T22:00:00.000Z', '2026-10-25T22:59:59.999Z'],
    // There is no midnight: the clocks jump from 23:59:59 to 01:00.
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z', '2018-11-05T01:59:59.999Z'],
    // At midnight the clocks go back to 23:00, so that the day before is longer.
    ['2018-02-17', 'America/Sao_Paulo', '2018-02-17T02:00:00.000Z', '2018-02-18T02:59:59.999Z'],
    // Midnight comes twice: the first one counts.
    ['2025-11-02', 'America/Havana', '2025-11-02T04:00:00.000Z', '2025-11-03T04:59:59.999Z'],
  ])('%s in %s lasts from %s to %s', (iso, zone, first, last) => {
    const day = createBusinessDay(iso, zone);
    expect(day.firstInstant.toISOString()).toBe(first);
    expect(day.lastInstant.toISOString()).toBe(last);
    expect(readClock(day.firstInstant, zone).slice(0, 10)).toBe(iso);
    expect(readClock(day.lastInstant, zone).slice(0, 10)).toBe(iso);
    expect(readClock(new Date(day.firstInstant.getTime() - 1), zone).slice(0, 10)).not.toBe(iso);
    expect(readClock(new Date(day.lastInstant.getTime() + 1), zone).slice(0, 10)).not.toBe(iso);
  });

  it('that the zone skipped holds no instant, and its neighbours are adjacent', () => {
    const skipped = createBusinessDay('2011-12-30', 'Pacific/Apia');
    expect(lengthInHours('2011-12-30', 'Pacific/Apia')).toBe(0);
    expect(skipped.ddmmyyyy).toBe('30122011');
    expect(skipped.previous().iso).toBe('2011-12-29');
    expect(skipped.next().iso).toBe('2011-12-31');
    expect(skipped.previous().lastInstant.getTime() + 1).toBe(skipped.next().firstInstant.getTime());
    expect(businessDayAt(skipped.firstInstant, 'Pacific/Apia').iso).toBe('2011-12-31');
    expect(businessDayAt(skipped.lastInstant, 'Pacific/Apia').iso).toBe('2011-12-29');
  });

  it('is formatted for the service’s folder, its file and a path template', () => {
    const day = createBusinessDay('2026-02-03', 'Europe/Madrid');
    expect(day.ddmmyyyy).toBe('03022026');
    expect(day.mmyyyy).toBe('022026');
    expect(day.format('ddMMyyyy')).toBe('03022026');
    expect(day.format("yyyy/MM/'day'-d")).toBe('2026/02/day-3');
    expect(createBusinessDay('0050-01-02', 'UTC').format('yyyy-MM-dd')).toBe('0050-01-02');
    expect(createBusinessDay('2018-11-04', 'America/Sao_Paulo').format('yyyyMMdd')).toBe('20181104');
  });

  it('is found from each of its instants, and is adjacent to its neighbours', () => {
    const instants = fc.date({
      min: new Date('1990-01-01'),
      max: new Date('2060-01-01'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, fc.constantFrom(...hosts, 'America/Havana'), (instant, zone) => {
        const day = businessDayAt(instant, zone);
        expect(day.iso).toBe(readClock(instant, zone).slice(0, 10));
        expect(day.firstInstant.getTime()).toBeLessThanOrEqual(instant.getTime());
        expect(day.lastInstant.getTime()).toBeGreaterThanOrEqual(instant.getTime());
        expect(day.next().firstInstant.getTime()).toBe(day.lastInstant.getTime() + 1);
        expect(day.next().previous().iso).toBe(day.iso);
      }),
    );
  });
});

describe('a written day', () => {
  it.each(['2026-11-20', '2028-02-29', '2000-02-29', '0001-01-01', '9999-12-31'])('may be %s', (text) => {
    expect(isCalendarDay(text)).toBe(true);
    expect(createBusinessDay(text, 'Europe/Madrid').iso).toBe(text);
  });

  it.each([
    '2100-02-29',
    '2026-13-01',
    '2026-01-00',
    '0000-01-01',
    '2026-1-1',
    '2026-11-20\n',
    '２０２６-11-20',
    '',
  ])('may not be %j', (text) => {
    expect(isCalendarDay(text)).toBe(false);
    expect(() => createBusinessDay(text, 'UTC')).toThrow(RangeError);
  });

  it('requires a known zone', () => {
    expect(isTimeZone('Asia/Kathmandu')).toBe(true);
    for (const zone of ['Europe/Atlantis', '', 'CEST in summer']) {
      expect(isTimeZone(zone)).toBe(false);
      expect(() => createBusinessDay('2026-11-20', zone)).toThrow(RangeError);
      expect(() => businessDayAt(new Date(0), zone)).toThrow(RangeError);
    }
  });

  it('has no neighbour outside four-digit years', () => {
    expect(() => createBusinessDay('9999-12-31', 'UTC').next()).toThrow(RangeError);
    expect(() => createBusinessDay('0001-01-01', 'UTC').previous()).toThrow(RangeError);
    expect(() => businessDayAt(new Date(Number.NaN), 'UTC')).toThrow(RangeError);
  });
});

it('earlier days are counted by the calendar, and include none that the zone’s calendar skipped', () => {
  expect(goBack(createBusinessDay('2026-03-02', 'Europe/Madrid'), 3).iso).toBe('2026-02-27');
  expect(goBack(createBusinessDay('0001-01-05', 'Europe/Madrid'), 8).iso).toBe('0001-01-01');
  // Samoa crossed the date line.
  const after = createBusinessDay('2011-12-31', 'Pacific/Apia');
  expect(holdsInstants(after)).toBe(true);
  expect(holdsInstants(after.previous())).toBe(false);
  expect(lastDayBefore(after).iso).toBe('2011-12-29');
});

it.each([
  ['ddMMyyyy', true],
  ["yyyy-MM-dd'D'", true],
  ['DDMMYYYY', false],
  ['', false],
])('the pattern %j writes a day: %s', (pattern, writes) => {
  expect(isDayPattern(pattern)).toBe(writes);
});

describe('a range of days', () => {
  it('has as many days as it lists, each a day after the one before', () => {
    const dates = fc
      .date({ min: new Date('0001-01-01'), max: new Date('9998-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 10));
    fc.assert(
      fc.property(dates, fc.nat(400), (from, further) => {
        const days = [createBusinessDay(from, 'UTC')];
        for (let day = days[0]; day && days.length <= further; day = day.next()) days.push(day.next());
        const to = days.at(-1)?.iso ?? '';
        expect(listDays(from, to)).toEqual(days.map(({ iso }) => iso));
        expect(countDays(from, to)).toBe(further + 1);
        expect(goBack(createBusinessDay(to, 'UTC'), further).iso).toBe(from);
      }),
    );
  });

  it('that ends before it begins has none', () => {
    for (const to of ['2026-11-19', '2026-01-01']) expect(listDays('2026-11-20', to)).toEqual([]);
  });
});

describe('a written instant', () => {
  it.each([
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2028-02-29T12:00Z', '2028-02-29T12:00:00.000Z'],
    ['2026-11-20T12:00:00.5+01:00', '2026-11-20T11:00:00.500Z'],
  ])('may be %s', (text, instant) => {
    expect(new Date(readInstant(text)).toISOString()).toBe(instant);
  });

  it.each(['2026-13-01', '2026-11-20T10:00:00', '2026-11-20T25:00Z', ''])(
    'is no other text, and no date that the calendar lacks: %j',
    (text) => {
      expect(readInstant(text)).toBeNaN();
    },
  );
});
