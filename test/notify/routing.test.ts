import { describe, expect, it } from 'vitest';
import type { ClaimedMessage } from '../../src/ledger/notices.js';
import { bundle, collectingMs, findDueTime, isWanted, retryAt } from '../../src/notify/routing.js';
import { type Notice, noticeEventNames } from '../../src/rules/notice.js';

const zone = 'Europe/Madrid';
const noticeOf = (changes: Partial<Notice> = {}): Notice => ({
  event: 'affected-found',
  subject: 'r1',
  stage: 'raised',
  severity: 'warning',
  facts: {},
  raisedAt: Date.UTC(2026, 10, 20, 12),
  ...changes,
});
const message = (id: string, changes: Partial<Notice> = {}): ClaimedMessage => ({
  id,
  attempt: 1,
  unconfirmed: 0,
  notice: noticeOf(changes),
});
const hour = 3_600_000;

describe('a channel', () => {
  it('gets the events that it names, from its lowest severity up', () => {
    const rules = { on: ['affected-found'], minimum: 'warning' } as const;
    expect(isWanted(noticeOf(), rules)).toBe(true);
    expect(isWanted(noticeOf({ severity: 'info' }), rules)).toBe(false);
    expect(isWanted(noticeOf({ event: 'day-late', severity: 'critical' }), rules)).toBe(false);
  });

  it('is told that a day recovered if it was told of the problem', () => {
    const recovered = noticeOf({
      event: 'day-recovered',
      severity: 'critical',
      facts: { ended: 'day-late run-failed' },
    });
    expect(isWanted(recovered, { on: ['run-failed'], minimum: 'critical' })).toBe(true);
    expect(isWanted(recovered, { on: ['result-late'], minimum: 'info' })).toBe(false);
    expect(isWanted(recovered, { on: noticeEventNames, minimum: 'info' })).toBe(true);
    const onRunFailed = { on: ['run-failed'], minimum: 'info' } as const;
    expect(isWanted({ ...recovered, event: 'copy-stale' }, onRunFailed)).toBe(false);
    expect(isWanted({ ...recovered, facts: {} }, onRunFailed)).toBe(false);
  });
});

describe('when a message is due', () => {
  it('it waits a moment for others of its kind, unless it is critical', () => {
    const { raisedAt } = noticeOf();
    const due = (severity: Notice['severity']) => findDueTime(noticeOf({ severity }), { at: '08:00' }, zone);
    expect(due('warning')).toBe(raisedAt + collectingMs);
    expect(due('critical')).toBe(raisedAt);
  });

  it('a morning digest waits for the time of its channel', () => {
    const digest = noticeOf({
      event: 'morning-digest',
      subject: '2026-11-20',
      severity: 'info',
      raisedAt: Date.parse('2026-11-20T06:00:00Z'),
    });
    expect(findDueTime(digest, { at: '09:30' }, zone)).toBe(Date.parse('2026-11-20T08:30:00Z'));
    expect(findDueTime(digest, { at: '06:30' }, zone)).toBe(digest.raisedAt);
  });

  it('the morning digest of a day on which no process was running is due at once', () => {
    const missed = noticeOf({
      event: 'morning-digest',
      subject: '2026-11-20',
      severity: 'info',
      raisedAt: Date.parse('2026-11-21T02:00:00Z'),
    });
    expect(findDueTime(missed, { at: '08:00' }, zone)).toBe(missed.raisedAt);
  });
});

describe('a message that failed', () => {
  const now = noticeOf().raisedAt;
  const pauseAfter = (
    attempt: number,
    options: { random?: number; retryAfterMs?: number; later?: number; unconfirmed?: number } = {},
  ) => {
    const { random = 1, retryAfterMs, later = 0, unconfirmed } = options;
    const at = retryAt(
      { attempt, unconfirmed: unconfirmed ?? 0, notice: noticeOf() },
      { now: now + later, random: () => random, retryAfterMs, mayHaveArrived: unconfirmed !== undefined },
    );
    return at === undefined ? undefined : (at - now - later) / 1_000;
  };

  it('is retried after pauses that double, up to a quarter of an hour', () => {
    expect([1, 2, 3, 7, 50].map((attempt) => pauseAfter(attempt))).toEqual([15, 30, 60, 900, 900]);
    expect(pauseAfter(1, { random: 0 })).toBe(7.5);
  });

  it('has a time in whole milliseconds', () => {
    expect(pauseAfter(1, { random: 1 / 3 })).toBe(10);
  });

  it('waits as long as the receiver asks, up to an hour', () => {
    expect(pauseAfter(1, { retryAfterMs: 120_000 })).toBe(120);
    expect(pauseAfter(1, { retryAfterMs: 24 * hour })).toBe(3_600);
  });

  it('and may have arrived waits for minutes, and is given up the third time', () => {
    expect(pauseAfter(1, { unconfirmed: 0 })).toBe(900);
    expect(pauseAfter(9, { unconfirmed: 1, random: 0 })).toBe(450);
    expect(pauseAfter(3, { unconfirmed: 2 })).toBeUndefined();
  });

  it('is given up after three days', () => {
    expect(pauseAfter(9, { later: 72 * hour - 1 })).toBe(900);
    expect(pauseAfter(9, { later: 72 * hour })).toBeUndefined();
  });
});

describe('many messages', () => {
  const many = (count: number, changes: Partial<Notice> = {}) =>
    Array.from({ length: count }, (_, index) => message(`m${index}`, changes));

  it('of one kind become one from ten on', () => {
    expect(bundle(many(9)).map((each) => each.length)).toEqual(Array(9).fill(1));
    expect(bundle(many(10)).map((each) => each.length)).toEqual([10]);
  });

  it('of one kind are separate while some are raised and some are over', () => {
    const mixed = [...many(9), message('m9', { stage: 'reminder' })];
    expect(bundle(mixed)).toHaveLength(10);
  });

  it('that may have arrived are sent again as they were', () => {
    const before = many(11).map((one) => ({ ...one, unconfirmed: 1, sentAs: 'digest' }));
    const single = { ...message('m11'), unconfirmed: 1, sentAs: 'm11' };
    const bundled = bundle([...before, single, message('m12')]);
    expect(bundled.map((each) => each.length)).toEqual([11, 1, 1]);
    const few = bundle([...before.slice(9), message('m12'), message('m13')]);
    expect(few.map((each) => each.length)).toEqual([2, 1, 1]);
  });

  it('that are critical are sent one by one', () => {
    expect(bundle(many(12, { event: 'run-failed', severity: 'critical' }))).toHaveLength(12);
  });
});
