import { expect, it } from 'vitest';
import {
  decideNotice,
  incidentOf,
  isAtLeast,
  isPartProblem,
  type LastNotice,
  lastsOf,
  type NoticeEvent,
  nightEvents,
  noticeEventNames,
  noticeEvents,
  severities,
} from '../../src/rules/notice.js';

const about = { subject: '2026-11-20', day: '2026-11-20' };
const ofProviders = { ...about, event: 'volume-dropped', subject: 'providers on 2026-11-20' } as const;

const critical: readonly NoticeEvent[] = [
  ...(['run-failed', 'day-late', 'result-incomplete', 'case-urgent'] as const),
  ...(['credentials-refused', 'resource-low', 'canary-missed'] as const),
];
const info: readonly NoticeEvent[] = ['day-recovered', 'mappings-synced', 'morning-digest'];
const ofDay: readonly NoticeEvent[] = [
  ...(['run-failed', 'day-late', 'result-late', 'result-incomplete'] as const),
  ...(['volume-dropped', 'affected-implausible'] as const),
];
const ofPart: readonly NoticeEvent[] = [
  ...(['sync-failing', 'copy-stale', 'export-missing', 'credentials-refused', 'resource-low'] as const),
];

it.each(noticeEventNames)('%s is as bad, and lasts as long, as its kind', (event) => {
  const severity = critical.includes(event) ? 'critical' : info.includes(event) ? 'info' : 'warning';
  const lasts = ofDay.includes(event)
    ? 'until-day-is-good'
    : ofPart.includes(event)
      ? 'until-recovered'
      : 'once';
  expect(noticeEvents[event]).toEqual({ severity, lasts });
  expect([lastsOf({ event, ...about }), isPartProblem(event)]).toEqual([lasts, ofPart.includes(event)]);
  const isOfDay = ofDay.includes(event) || event === 'day-recovered';
  expect(incidentOf({ event, ...about })).toBe(isOfDay ? 'day 2026-11-20' : `${event} 2026-11-20`);
  expect(incidentOf({ event, subject: 'x' })).toBe(`${event} x`);
});

it('few bookings of single providers are only told', () => {
  expect(lastsOf(ofProviders)).toBe('once');
  expect(lastsOf({ ...ofProviders, event: 'run-failed' })).toBe('until-day-is-good');
  expect(incidentOf(ofProviders)).toBe('volume-dropped providers on 2026-11-20');
});

it('whoever wants to know about the nights hears what keeps a day from being good, and of its end', () => {
  const others = ['day-recovered', 'credentials-refused', 'resource-low'];
  expect([...nightEvents].sort()).toEqual([...ofDay, ...others].sort());
});

it('a severity is at least itself and what is less bad', () => {
  const least = severities.map((one) => severities.filter((minimum) => isAtLeast(one, minimum)));
  expect(least).toEqual([['info'], ['info', 'warning'], ['info', 'warning', 'critical']]);
});

const known: LastNotice = { round: 2, isOver: false, severity: 'critical', reminders: 3 };
const over = { ...known, isOver: true };

it.each<[string, object | undefined, Parameters<typeof decideNotice>]>([
  ['the first time', { round: 0, reminder: 0 }, [{ ...about, event: 'affected-found' }, undefined]],
  ['once, if it happens once', undefined, [{ ...about, event: 'affected-found' }, over]],
  ['not while it lasts', undefined, [{ ...about, event: 'run-failed' }, known]],
  ['not if it gets better', undefined, [{ ...about, event: 'run-failed', severity: 'warning' }, known]],
  [
    'when it gets worse',
    { round: 2, reminder: 4 },
    [
      { ...about, event: 'run-failed' },
      { ...known, severity: 'warning' },
    ],
  ],
  ['when it is back', { round: 3, reminder: 0 }, [{ ...about, event: 'volume-dropped' }, over]],
  ['never again about providers', undefined, [ofProviders, over]],
])('people are told of a notice %s', (_, expected, [notice, last]) => {
  expect(decideNotice(notice, last)).toEqual(expected);
});
