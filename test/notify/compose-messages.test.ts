import { describe, expect, it } from 'vitest';
import type { CaseSummary } from '../../src/ledger/cases.js';
import type { OpenProblem } from '../../src/ledger/notices.js';
import { type ComposeParts, composeMessage } from '../../src/notify/compose-messages.js';
import type { Notice } from '../../src/rules/notice.js';
import { fakeLedger } from '../support/fake-ledger.js';

const day = '2026-11-20';
const notice: Notice = {
  event: 'affected-found',
  subject: 'r1',
  day,
  runId: 'r1',
  stage: 'raised',
  severity: 'warning',
  facts: { affected: 1 },
  raisedAt: 0,
};
const failed: OpenProblem = {
  ...notice,
  event: 'run-failed',
  subject: day,
  facts: { code: 'binary' },
  number: 1,
  reminders: 0,
  lastToldAt: 0,
};
const caseOn = (nextCheckIn: string) => ({ nextCheckIn, openBookings: 1, inHouse: 0 }) as CaseSummary;
const inHouse = { firstCheckIn: '2026-11-19', openBookings: 1, inHouse: 1 } as CaseSummary;

function partsOf({
  cases = [] as CaseSummary[],
  problems = [] as OpenProblem[],
  givenUp = 0,
  lastGoodDay = '2026-11-20' as string | undefined,
} = {}): ComposeParts {
  return {
    ledger: fakeLedger({
      runs: {
        summarise: async () => ({
          runsByState: {} as never,
          ...(lastGoodDay !== undefined && { lastGoodDay }),
        }),
      },
      cases: {
        list: async ({ checkInBefore = '9' }) =>
          cases.filter(({ nextCheckIn = '' }) => nextCheckIn < checkInBefore),
      },
      notices: {
        listProblems: async () => problems,
        countMessages: async () => ({ pending: 0, givenUp, perhapsReceived: 1 }),
      },
    }),
    timezone: 'Europe/Madrid',
    publicUrl: 'https://review.example.com',
    command: (words) => `hotel-review ${words}`,
    clock: () => Date.UTC(2026, 10, 21, 7),
    reportDay: async () => ({
      headline: 'All 30 bookings have the verdict correct.',
      page: Buffer.from('<html>'),
    }),
  };
}

const usual = { takesFiles: false };

describe('a message', () => {
  it('makes no link of a name that others chose, and leaves commands as they are', async () => {
    const facts = { provider: 'evil.example', usual: 9 };
    const parts = { ...partsOf(), command: (words: string) => `hotel-review --config agency.yaml ${words}` };
    const silent: Notice = { ...notice, event: 'provider-silent', facts };
    expect((await composeMessage([silent], parts, usual)).title).toContain('of evil.\u2060example on');
    const reason: Notice = { ...failed, facts: { code: 'x', message: 'see www.evil.example/a.b' } };
    expect((await composeMessage([reason], parts, usual)).text).toBe(
      'see www.\u2060evil.\u2060example/a.b\nTo resume it: hotel-review --config agency.yaml run 2026-11-20',
    );
  });

  it('about more urgent cases links to the cases', async () => {
    const more: Notice = { ...notice, event: 'case-urgent', facts: { cases: 1_081, inHouse: 0 } };
    const { url } = await composeMessage([more], partsOf(), usual);
    expect(url).toBe('https://review.example.com/cases');
  });

  it('says for how many days nothing was reviewed, and how many guests are in house or check in today', async () => {
    const bad = partsOf({ lastGoodDay: '2026-11-17', cases: [caseOn('2026-11-21'), inHouse] });
    expect((await composeMessage([failed], bad, usual)).title).toBe(
      'The review of 2026-11-20 failed (binary); day 3 without review, 1 case with guests in house, 1 case with check-in today',
    );
    // Half past midnight in Madrid.
    const early = { ...bad, clock: () => Date.UTC(2026, 10, 20, 23, 30) };
    expect((await composeMessage([failed], early, usual)).title).toContain('1 case with check-in today');
    expect((await composeMessage([failed], partsOf({ lastGoodDay: undefined }), usual)).title).toBe(
      'The review of 2026-11-20 failed (binary)',
    );
  });
});

describe('a morning digest', () => {
  const digest: Notice = {
    ...notice,
    event: 'morning-digest',
    subject: '2026-11-21',
    severity: 'info',
    facts: {},
  };

  it('says how the day went, what lasts, and which check-in is next', async () => {
    const parts = partsOf({
      cases: [caseOn('2026-11-29'), caseOn('2026-11-23'), inHouse],
      problems: [failed],
      givenUp: 2,
    });
    expect(await composeMessage([digest], parts, usual)).toEqual({
      title: 'Reviews of 2026-11-20: All 30 bookings have the verdict correct.',
      text: [
        '3 cases with open bookings, 1 of them with guests in house, the nearest check-in on 2026-11-23: hotel-review cases',
        'Still: The review of 2026-11-20 failed (binary)',
        '2 messages could not be sent',
        '1 message not confirmed, perhaps received',
        'More: hotel-review report 2026-11-20',
      ].join('\n'),
      url: 'https://review.example.com',
    });
  });

  it('makes no link of a name that others chose, in what lasts', async () => {
    const facts = { drops: 'evil.example: 0, usually 412' };
    const problems: OpenProblem[] = [{ ...failed, event: 'volume-dropped', facts }];
    expect((await composeMessage([digest], partsOf({ problems }), usual)).text).toContain(
      'Still: 2026-11-20 has far fewer bookings than usual: evil.\u2060example: 0, usually 412',
    );
  });
});
