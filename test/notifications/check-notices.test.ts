import { describe, expect, it } from 'vitest';
import { type CheckParts, checkNotices, isReminderDue } from '../../src/notifications/check-notices.js';
import type { NoticeEvent } from '../../src/notifications/notice.js';
import type { OpenProblem } from '../../src/notifications/notice-store.js';
import type { Run } from '../../src/review/run.js';

const hour = 3_600_000;
const at = Date.UTC(2026, 10, 21, 2);
const day = '2026-11-20';

describe('a problem that lasts', () => {
  const remindedAfter = (...hours: readonly number[]) => {
    const reminded: number[] = [];
    let lastToldAt = at;
    for (const after of hours) {
      const now = at + after * hour;
      if (!isReminderDue({ raisedAt: at, lastToldAt }, now)) continue;
      reminded.push(after);
      lastToldAt = now;
    }
    return reminded;
  };

  it('is told again once a day, at about the same time', () => {
    const everyHour = Array.from({ length: 96 }, (_, index) => index);
    expect(remindedAfter(...everyHour)).toEqual([22, 46, 70, 94]);
  });

  it('is told again in each night, also if one is shorter than the one before', () => {
    expect(remindedAfter(23.99, 47.98, 71, 95.5)).toEqual([23.99, 47.98, 71, 95.5]);
  });
});

describe('a problem is over', () => {
  const good = {
    id: 'r2',
    day,
    delivery: 'body',
    trigger: 'manual',
    state: 'succeeded',
    startedAt: at,
    collectStartedAt: at,
    finishedAt: at + hour,
    counts: { delivered: 3 },
  } as Run;
  const problem = (event: NoticeEvent, changes: Partial<OpenProblem> = {}): OpenProblem => ({
    ...{ event, subject: day, stage: 'raised', severity: 'critical', facts: {}, number: 1, reminders: 0 },
    ...{ raisedAt: at, lastToldAt: at },
    ...changes,
  });

  /** The events that end, with these runs in the ledger, the newest first. */
  async function findEnded(open: OpenProblem, ...runs: readonly Run[]): Promise<readonly string[]> {
    const ended: string[] = [];
    const ledger = {
      listRuns: async () => runs,
      notices: {
        raise: async () => 0,
        listProblems: async () => [open],
        end: async (problems: readonly OpenProblem[]) => {
          ended.push(...problems.map(({ event }) => event));
          return problems.length;
        },
        dismiss: async (problems: readonly OpenProblem[]) => {
          ended.push(...problems.map(({ event }) => `${event}, without a word`));
        },
        remind: async () => false,
      },
      cases: { list: async () => [] },
      exports: { latestRequest: async () => undefined },
    };
    await checkNotices({
      ledger: ledger as unknown as CheckParts['ledger'],
      timezone: 'Europe/Madrid',
      findLateDays: async () => [],
      exportPatienceMs: 0,
      measureFree: async () => [],
      findDigest: async () => undefined,
      clock: () => at + 2 * hour,
    });
    return ended;
  }

  it('of a failed run by a good run after it', async () => {
    const failed = problem('run-failed', { day });
    expect(await findEnded(failed, good)).toEqual(['run-failed']);
    expect(await findEnded({ ...failed, raisedAt: at + 2 * hour }, good)).toEqual([]);
  });

  it('of a late day by any good run: the clocks of two machines may differ', async () => {
    expect(await findEnded(problem('day-late', { day, raisedAt: at + 2 * hour }), good)).toEqual([
      'day-late',
    ]);
  });

  it('of a failed run without a word if somebody gave it up, whatever the watch did on that day', async () => {
    const failed = problem('run-failed', { day });
    const givenUp: Run = { ...good, state: 'cancelled', cancelReason: 'wrong export' };
    const watch: Run = { ...good, trigger: 'watch', state: 'failed' };
    expect(await findEnded(failed, watch, givenUp)).toEqual(['run-failed, without a word']);
    expect(await findEnded(failed, { ...givenUp, trigger: 'watch' }, { ...good, state: 'failed' })).toEqual(
      [],
    );
  });

  it('of refused credentials by a run that used them', async () => {
    const refused = problem('credentials-refused', { subject: 'service' });
    expect(await findEnded(refused, good)).toEqual(['credentials-refused']);
    expect(await findEnded(refused, { ...good, counts: { ...good.counts, delivered: 0 } })).toEqual([]);
    const bySftp = problem('credentials-refused', { subject: 'sftp' });
    expect(await findEnded(bySftp, { ...good, delivery: 'file' })).toEqual([]);
    expect(await findEnded(bySftp, { ...good, delivery: 'file', file: { triggeredAt: at } })).toEqual([
      'credentials-refused',
    ]);
  });
});
