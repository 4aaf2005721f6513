import { describe, expect, it } from 'vitest';
import { describeDigest, describeNotice, type Situation } from '../../src/notify/describe-notice.js';
import { type Facts, type Notice, type NoticeEvent, noticeEventNames } from '../../src/rules/notice.js';

const day = '2026-11-20';
const situation: Situation = { checkInsToday: 0, command: (words) => `hotel-review ${words}` };
const describeEvent = (event: NoticeEvent, facts: Facts = {}, changes: Partial<Notice> = {}) =>
  describeNotice(
    { event, subject: day, day, stage: 'raised', severity: 'critical', facts, raisedAt: 0, ...changes },
    situation,
  );

describe('a message', () => {
  it.each<[NoticeEvent, Facts, string, ...string[]]>([
    [
      'case-urgent',
      { cases: 1_081, inHouse: 2 },
      '1,081 more cases with a guest in house or a check-in by tomorrow',
      ...['2 cases with guests in house', 'The most urgent ones have a message each.'],
      'To act: hotel-review cases',
    ],
    [
      'affected-implausible',
      { affected: 30, judged: 200 },
      '2026-11-20 has implausibly many affected bookings: 30 of 200 with a verdict (15%)',
      'Perhaps the source, the result or the account is wrong: look before anybody acts. Their cases are open.',
      'To look at them: hotel-review affected 2026-11-20',
      'Once what is wrong is corrected: hotel-review replay 2026-11-20',
      'If they are right: hotel-review run 2026-11-20 --accept-affected',
    ],
    [
      'volume-low',
      { accepted: 90, usual: 1_400 },
      '2026-11-20 has fewer bookings than usual: 90, usually 1,400',
      'The day is good. Check the export: bookings that are missing in it are not reviewed.',
      'Once it is complete: hotel-review replay 2026-11-20 --late',
    ],
    [
      'result-set-aside',
      { foreign: 9, ours: 1 },
      'A result of 2026-11-20 was set aside: most of its rows name other bookings',
      ...['9 rows about other bookings', '1 row about ours'],
      'It is archived, and no verdict of it counts. The run waits for another result.',
      'Ask the service which result is ours. To see more: hotel-review status 2026-11-20',
    ],
  ])('says what happened and what to do: %s %o', (event, facts, title, ...lines) => {
    expect(describeEvent(event, facts)).toEqual({ title, text: lines.join('\n') });
  });

  it.each([
    ['service', 'The service refuses the account or its key', 'Nothing is reviewed'],
    ['sftp', 'The SFTP server refuses the account, or its host key has changed', 'Nothing is reviewed'],
    ['source', 'The source refuses the account, or its host key has changed', 'Nothing is reviewed'],
    ['mailbox', 'The mailbox refuses the account or its password', "The service's e-mails are not read"],
    ['channel ops', 'The channel ops refuses the account or its password', 'Nobody is told through it'],
  ])('says who refuses the account, and what that does: %s', (subject, title, damage) => {
    const text = `${damage} until that is fixed. To try it: hotel-review doctor`;
    const facts = { code: 'http-401', message: '' };
    expect(describeEvent('credentials-refused', facts, { subject })).toEqual({
      title: `${title} (http-401)`,
      text,
    });
  });

  it('says that a problem still lasts, and that it is over', () => {
    const titleAt = (stage: Notice['stage']) => describeEvent('copy-stale', { hours: 50 }, { stage }).title;
    expect(titleAt('reminder')).toBe('Still: The copy of the mappings is 50 hours old');
    expect(titleAt('recovered')).toBe('Recovered: the copy of the mappings is up to date');
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
