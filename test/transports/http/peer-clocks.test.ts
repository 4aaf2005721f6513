import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareClocks,
  createPeerClocks,
  describeOffset,
  findAgreedLead,
  findOffset,
  readDifference,
} from '../../../src/transports/http/peer-clocks.js';

const date = 'Fri, 20 Nov 2026 22:00:00 GMT';
const at = Date.parse(date);
const exact = (milliseconds: number) => ({ least: milliseconds, most: milliseconds });
const [minute, hour] = [60_000, 3_600_000];

describe('an answer', () => {
  it('says what time it was there while it was on its way, to the second', () => {
    const trip = { sentAt: at + 5_000, receivedAt: at + 8_000 };
    expect(readDifference({ date }, trip)).toEqual({ least: -8_000, most: -4_001 });
    expect(readDifference({ date, age: '0' }, trip)).toBeDefined();
  });

  it.each([
    ['without a date', {}, 1],
    ['with an unreadable date', { date: 'yesterday' }, 1],
    ['from a cache', { date, age: '1' }, 1],
    ['during which our clock was set back', { date }, -1],
  ])('%s says nothing', (_, headers, tripMs) => {
    expect(readDifference(headers, { sentAt: at, receivedAt: at + tripMs })).toBeUndefined();
  });

  it('never shows a difference that the time it took explains', () => {
    const time = fc.integer({ min: 0, max: 90_000 });
    const offset = fc.integer({ min: -2 * hour, max: 2 * hour });
    fc.assert(
      fc.property(time, time, offset, (there, back, ahead) => {
        const answeredAt = new Date(at + there + ahead).toUTCString();
        const difference = readDifference(
          { date: answeredAt },
          { sentAt: at, receivedAt: at + there + back },
        );
        if (!difference) throw new Error('expected a difference');
        expect(difference.least).toBeLessThanOrEqual(ahead);
        expect(difference.most).toBeGreaterThanOrEqual(ahead);
        const found = findOffset(difference);
        if (found === 0) return;
        expect(Math.sign(found)).toBe(Math.sign(ahead));
        expect(Math.abs(found)).toBeLessThanOrEqual(Math.abs(ahead));
      }),
    );
  });
});

describe('our clock is ahead', () => {
  it.each<[string, number, number[], number]>([
    ['where a second clock agrees with the service', -2 * hour, [0, -2 * hour + minute], 2 * hour - minute],
    ['not where the second one differs from both', -2 * hour, [-hour], 0],
    ['not where the second one is like ours', -minute - 1, [-1], 0],
    ['not where nobody else has answered', -2 * hour, [], 0],
    ['not where it is behind', 2 * hour, [2 * hour], 0],
    ['not by a minute', -minute, [-minute], 0],
  ])('%s', (_, service, others, lead) => {
    expect(findAgreedLead(exact(service), others.map(exact))).toBe(lead);
  });

  it('by what is certain of both', () => {
    const trip = { sentAt: at + hour, receivedAt: at + hour + 9_000 };
    const service = compareClocks({ from: at, to: at + 999 }, trip) ?? exact(0);
    expect(findAgreedLead(service, [{ least: -hour - 90_000, most: -hour - 60_000 }])).toBe(hour - 999);
  });
});

it('a process warns of each difference once, and judges only runs that it has collected', () => {
  const warnings: string[] = [];
  const clocks = createPeerClocks(
    () => at,
    (message) => warnings.push(message),
  );
  const service = clocks.of('service');
  clocks.of('archive').note(exact(-2 * hour));
  clocks.noteCollected('r0');
  expect(clocks.findLead('r0')).toBeUndefined();
  for (const offset of [-30_000, -2 * hour, -2 * hour - minute, -2 * hour, 0, 3 * minute, 0, 3 * minute])
    service.note(exact(offset));
  service.note(undefined);
  expect(warnings.map((text) => text.slice(0, text.indexOf(' that of')))).toEqual([
    'the clock of this machine is 2 h ahead of',
    'the clock of this machine is 3 min behind',
    'the clock of this machine is 3 min behind',
  ]);
  service.note(exact(-2 * hour));
  expect(clocks.findLead('r1')).toBeUndefined();
  clocks.noteCollected('r1');
  expect(clocks.findLead('r1')).toBe(2 * hour);
  expect(clocks.findLead('r2')).toBeUndefined();
});

it('a tolerable difference has no words', () => expect(describeOffset(0)).toBeUndefined());
