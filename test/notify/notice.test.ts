import { expect, it } from 'vitest';
import { decideNotice, incidentOf, type LastNotice, type NewNotice } from '../../src/rules/notice.js';

const day = '2026-11-20';
const providers = `providers on ${day}`;
const known: LastNotice = { round: 2, isOver: false, severity: 'critical', reminders: 3 };

it.each<[when: string, notice: Partial<NewNotice>, last: Partial<LastNotice>, told: object | undefined]>([
  ['not while its problem lasts', {}, {}, undefined],
  ['not when its problem gets better', { severity: 'warning' }, {}, undefined],
  ['as a reminder when it gets worse', {}, { severity: 'warning' }, { round: 2, reminder: 4 }],
  ['once if it happens once', { event: 'affected-found' }, { isOver: true }, undefined],
  ['anew if few bookings came', { event: 'volume-dropped' }, { isOver: true }, { round: 3, reminder: 0 }],
  ['once of providers', { event: 'volume-dropped', subject: providers }, { isOver: true }, undefined],
])('a notice is told again %s: %o', (_, notice, last, told) => {
  expect(decideNotice({ event: 'run-failed', subject: day, day, ...notice }, { ...known, ...last })).toEqual(
    told,
  );
});

it.each([
  ['run-failed', day, `day ${day}`],
  ['run-failed', `${day} (watch)`, `day ${day}`],
  ['day-late', day, `day ${day}`],
  ['result-late', day, `day ${day}`],
  ['volume-dropped', day, `day ${day}`],
  ['day-recovered', day, `day ${day}`],
  ['volume-dropped', providers, `volume-dropped ${providers}`],
  ['affected-found', day, `affected-found ${day}`],
] as const)('%s about %s is of the incident %s', (event, subject, incident) => {
  expect(incidentOf({ event, subject, day })).toBe(incident);
});
