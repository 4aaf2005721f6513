import { describe, expect, it } from 'vitest';
import { describeDigest, describeNotice, type Situation } from '../../src/notify/describe-notice.js';
import { type Facts, type Notice, type NoticeEvent, noticeEventNames } from '../../src/rules/notice.js';

const day = '2026-11-20';
const situation: Situation = { checkInsToday: 0, command: (words) => `hotel-review ${words}` };
const describeEvent = (
  event: NoticeEvent,
  facts: Facts = {},
  changes: Partial<Notice> = {},
  about = situation,
) =>
  describeNotice(
    { event, subject: day, day, stage: 'raised', severity: 'critical', facts, raisedAt: 0, ...changes },
    about,
  );

describe('a message', () => {
  it('says what failed, why, and how to resume it', () => {
    const facts = { code: 'binary', message: 'bookings.csv is not a text file', pending: 1_200 };
    expect(describeEvent('run-failed', facts)).toEqual({
      title: 'The review of 2026-11-20 failed (binary)',
      text: 'bookings.csv is not a text file\n1,200 bookings not delivered\nTo resume it: hotel-review run 2026-11-20',
    });
  });

  it('says how bad it is by now', () => {
    const bad = { ...situation, daysWithoutReview: 3, checkInsToday: 41 };
    expect(describeEvent('day-late', {}, {}, bad).title).toBe(
      '2026-11-20 was not reviewed by its deadline; day 3 without review, 41 cases with check-in today',
    );
    expect(describeEvent('day-late', {}, {}, { ...situation, daysWithoutReview: 1 }).title).toBe(
      '2026-11-20 was not reviewed by its deadline',
    );
  });

  it('counts affected bookings, of a day or of an e-mail', () => {
    expect(describeEvent('affected-found', { affected: 1, unanswered: 2 })).toEqual({
      title: '1 booking of 2026-11-20 on an incorrect mapping',
      text: '2 bookings without a verdict\nTo list them: hotel-review affected 2026-11-20\nTo act: hotel-review cases',
    });
    const { day: _, ...byEmail } = { day, subject: 'e-mail 4' };
    const notice: Notice = {
      ...byEmail,
      event: 'affected-found',
      stage: 'raised',
      severity: 'warning',
      facts: { affected: 2, mappings: 1 },
      raisedAt: 0,
    };
    expect(describeNotice(notice, situation)).toEqual({
      title: 'An e-mail names 2 bookings on an incorrect mapping',
      text: '1 mapping named without bookings\nTo act: hotel-review cases',
    });
  });

  it('names the case of an urgent check-in', () => {
    const facts = { case: 12, firstCheckIn: '2026-11-21', state: 'reported', openBookings: 3 };
    expect(describeEvent('case-urgent', facts)).toEqual({
      title: 'Case 12: a guest checks in on 2026-11-21, and the mapping is reported',
      text: '3 bookings not resolved\nTo act: hotel-review case 12',
    });
  });

  it('says how many more cases are urgent', () => {
    expect(describeEvent('case-urgent', { cases: 1_081, inHouse: 2 })).toEqual({
      title: '1,081 more cases with a guest in house or a check-in by tomorrow',
      text: '2 cases with guests in house\nThe most urgent ones have a message each.\nTo act: hotel-review cases',
    });
  });

  it('says how many of a day are affected, and what to do', () => {
    expect(describeEvent('affected-implausible', { affected: 30, judged: 200 })).toEqual({
      title: '2026-11-20 has implausibly many affected bookings: 30 of 200 with a verdict (15%)',
      text: [
        'Perhaps the source, the result or the account is wrong: look before anybody acts. Their cases are open.',
        'To look at them: hotel-review affected 2026-11-20',
        'Once what is wrong is corrected: hotel-review replay 2026-11-20',
        'If they are right: hotel-review run 2026-11-20 --accept-affected',
      ].join('\n'),
    });
  });

  it('says that a problem still lasts, and that it is over', () => {
    const facts = { hours: 50 };
    expect(describeEvent('copy-stale', facts, { stage: 'reminder' }).title).toBe(
      'Still: The copy of the mappings is 50 hours old',
    );
    expect(describeEvent('copy-stale', facts, { stage: 'recovered' })).toEqual({
      title: 'Recovered: the copy of the mappings is up to date',
      text: '',
    });
  });

  it.each(noticeEventNames)('has one line for %s, whatever is known', (event) => {
    const { title } = describeEvent(event);
    expect(title).toMatch(/^[^\n]{8,}$/);
    expect(title).not.toMatch(/undefined|null|NaN/);
  });

  it('about many notices has a line for each of the first fifty, and says once what to do', () => {
    const each = Array.from({ length: 60 }, (_, index) => describeEvent('case-escalated', { case: index }));
    const { title, text } = describeDigest(each);
    expect(title).toBe('60 notices, the first: Case 0 was reported to the service and is not corrected');
    const lines = text.split('\n');
    expect(lines).toHaveLength(52);
    expect(lines.slice(49)).toEqual([
      '- Case 49 was reported to the service and is not corrected',
      'and 10 more',
      'Ask the service again. To act: hotel-review case 0',
    ]);
  });
});
