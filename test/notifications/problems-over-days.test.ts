import { describe, expect, it } from 'vitest';
import type { CaseSummary } from '../../src/ledger/cases.js';
import type { FetchedExport, MappingSync, RequestedExport } from '../../src/ledger/mappings.js';
import type { OpenProblem, WaitingMessages } from '../../src/ledger/notices.js';
import { type CheckParts, checkNotices } from '../../src/notify/check-notices.js';
import type { NewNotice, NoticeEvent } from '../../src/rules/notice.js';
import type { Run } from '../../src/rules/run.js';
import { someRun } from '../review/some-run.js';
import { fakeLedger } from '../support/fake-ledger.js';

const hour = 3_600_000;
const now = Date.UTC(2026, 10, 21, 23, 30);
const day = '2026-11-20';

const problem = (event: NoticeEvent, changes: Partial<OpenProblem> = {}): OpenProblem => ({
  ...{ event, subject: day, stage: 'raised', severity: 'critical', facts: {}, number: 1, reminders: 0 },
  ...{ raisedAt: now - 5 * hour, lastToldAt: now - 5 * hour },
  ...changes,
});
const ofDay = (event: NoticeEvent, changes: Partial<OpenProblem> = {}) => problem(event, { day, ...changes });
const good = someRun({
  collectStartedAt: now - 4 * hour,
  startedAt: now - 4 * hour,
  finishedAt: now - 3 * hour,
});

interface Given {
  readonly problems?: readonly OpenProblem[];
  readonly runs?: readonly Run[];
  readonly late?: readonly string[];
  readonly digest?: NewNotice;
  readonly outlines?: readonly object[];
  readonly latestSync?: object;
  readonly request?: object;
  readonly fetched?: object;
  readonly mailbox?: object;
  readonly copy?: CheckParts['copy'];
  readonly disks?: Awaited<ReturnType<CheckParts['measureFree']>>;
  readonly waiting?: readonly WaitingMessages[];
}

/** What one check asks of the ledger, and tells it. */
async function check(given: Given) {
  const told = {
    raised: [] as NewNotice[],
    ended: [] as (readonly [readonly string[], object])[],
    dismissed: [] as string[],
    reminded: [] as string[],
    asked: [] as unknown[],
  };
  const namesOf = (problems: readonly OpenProblem[]) => problems.map(({ event }) => event);
  const ledger = fakeLedger({
    runs: {
      async list(query) {
        told.asked.push(query);
        return [...(given.runs ?? [])];
      },
    },
    notices: {
      raise: async (notices) => told.raised.push(...notices),
      listProblems: async () => [...(given.problems ?? [])],
      listWaiting: async () => [...(given.waiting ?? [])],
      listMessages: async (query) => {
        told.asked.push(query);
        return [];
      },
      async end(problems, details) {
        if (problems.length > 0 || 'recovery' in details) told.ended.push([namesOf(problems), details]);
        return problems.length;
      },
      dismiss: async (problems) => void told.dismissed.push(...namesOf(problems)),
      remind: async ({ event }, at) => told.reminded.push(`${event} at ${at - now}`) > 0,
    },
    cases: {
      async list(query) {
        told.asked.push(query);
        return [...(given.outlines ?? [])] as CaseSummary[];
      },
    },
    mails: { describeMailbox: async () => given.mailbox ?? {} },
    mappings: { latestSync: async () => given.latestSync as MappingSync | undefined },
    exports: {
      latestRequest: async () => given.request as RequestedExport | undefined,
      latestFetched: async () => given.fetched as FetchedExport | undefined,
    },
  });
  await checkNotices({
    ledger,
    timezone: 'Europe/Madrid',
    findLateDays: async () => given.late ?? [],
    copy: given.copy,
    exportPatienceMs: 6 * hour,
    measureFree: async () => given.disks ?? [],
    findDigest: async () => given.digest,
    clock: () => now,
  });
  return told;
}

describe('a check', () => {
  it('raises each late day, and the digest that is due', async () => {
    const digest: NewNotice = { event: 'morning-digest', subject: day, facts: {}, raisedAt: now };
    const late = { event: 'day-late', facts: {}, raisedAt: now };
    expect((await check({ late: [day, '2026-11-19'], digest })).raised).toEqual([
      { ...late, subject: day, day },
      { ...late, subject: '2026-11-19', day: '2026-11-19' },
      digest,
    ]);
    expect((await check({})).raised).toEqual([]);
  });

  it('tells of a channel whose receiver refuses the account, and of no other that waits', async () => {
    const waiting = ['smtp-535', 'http-401', 'smtp-454', 'http-503', 'timeout'].map((lastCode, index) => ({
      channel: `c${index}`,
      messages: 1,
      since: now,
      lastCode,
    }));
    expect((await check({ waiting })).raised).toMatchObject([
      { event: 'credentials-refused', subject: 'channel c0', facts: { code: 'smtp-535', message: '' } },
      { event: 'credentials-refused', subject: 'channel c1', facts: { code: 'http-401' } },
    ]);
  });

  it('looks for guests of today, tomorrow, and the days before, in the zone of the account', async () => {
    const { asked } = await check({});
    expect(asked).toEqual([{ today: '2026-11-22', checkInBefore: '2026-11-24' }]);
  });

  it('takes an arrival as urgent until the day after tomorrow, and a missing day as unknown', async () => {
    const item = { id: 1, state: 'open', inHouse: 0, openBookings: 1 };
    const urgent = async (changes: object) =>
      (await check({ outlines: [{ ...item, ...changes }] })).raised.map(({ subject }) => subject);
    expect(await urgent({ nextCheckIn: '2026-11-23' })).toEqual(['case 1 on 2026-11-23']);
    expect(await urgent({ nextCheckIn: '2026-11-24' })).toEqual([]);
    expect(await urgent({})).toEqual([]);
    expect(await urgent({ inHouse: 1 })).toEqual(['case 1 on an unknown day']);
  });
});

describe('the problems of a day', () => {
  it('end together, with one message that names what is over', async () => {
    const problems = [ofDay('run-failed'), ofDay('result-late'), ofDay('run-failed', { number: 2 })];
    const { ended, dismissed, asked } = await check({ problems, runs: [good] });
    const about = { event: 'day-recovered', subject: day, day, raisedAt: now };
    const recovery = { ...about, facts: { ended: 'run-failed result-late' } };
    expect(ended).toEqual([[['run-failed', 'result-late', 'run-failed'], { at: now, recovery }]]);
    expect(dismissed).toEqual([]);
    expect(asked).toContainEqual({ day, limit: 50 });
  });

  it('are those of that day alone, and lasting ones', async () => {
    const problems = [
      ofDay('run-failed'),
      problem('run-failed', { day: '2026-11-19', raisedAt: now }),
      problem('run-failed', { raisedAt: now }),
      ofDay('provider-silent'),
    ];
    const { ended, asked } = await check({ problems, runs: [good] });
    expect(ended).toMatchObject([[['run-failed'], {}]]);
    expect(asked.slice(1)).toEqual([day, '2026-11-19'].map((each) => ({ day: each, limit: 50 })));
  });

  it('are not over by a run that failed, by an older success, or by one that does not complete the day', async () => {
    const stillOpen = async (run: Run) =>
      (await check({ problems: [ofDay('run-failed')], runs: [run] })).ended.length === 0;
    expect(await stillOpen(good)).toBe(false);
    expect(await stillOpen({ ...good, state: 'failed' })).toBe(true);
    expect(await stillOpen({ ...good, finishedAt: now - 6 * hour })).toBe(true);
    expect(await stillOpen({ ...good, finishedAt: now - 5 * hour })).toBe(false);
    const { finishedAt: _, ...unfinished } = good;
    expect(await stillOpen(unfinished)).toBe(true);
    expect(await stillOpen({ ...good, trigger: 'today' })).toBe(true);
  });

  it('are over for a run of the current day once it succeeds itself', async () => {
    const today: Run = { ...good, trigger: 'today' };
    const own = ofDay('run-failed', { runId: today.id });
    expect((await check({ problems: [own], runs: [today] })).ended).toHaveLength(1);
    expect((await check({ problems: [own], runs: [{ ...today, state: 'failed' }] })).ended).toEqual([]);
  });

  it('are given up with their day: a day that is not late any more, or whose latest run somebody cancelled', async () => {
    const problems = [ofDay('day-late'), ofDay('run-failed')];
    const cancelled: Run = { ...good, state: 'cancelled', cancelReason: 'closed' };
    expect((await check({ problems })).dismissed).toEqual(['day-late']);
    expect((await check({ problems, late: [day] })).dismissed).toEqual([]);
    expect((await check({ problems, late: [day], runs: [cancelled] })).dismissed).toEqual(['run-failed']);
    expect((await check({ problems: [ofDay('run-failed')], runs: [good, cancelled] })).dismissed).toEqual([]);
  });
});

describe('any other problem', () => {
  const copy = { completeUntil: now - 24 * hour };

  it('is told again after a day, unless it is a disk that another machine measures', async () => {
    const yesterday = { raisedAt: now - 25 * hour, lastToldAt: now - 25 * hour };
    const problems = [problem('sync-failing', yesterday), problem('resource-low', yesterday)];
    expect((await check({ problems })).reminded).toEqual(['sync-failing at 0']);
    expect((await check({ problems: [problem('sync-failing')] })).reminded).toEqual([]);
  });

  it('of the copy and of an export is over when it is not found any more', async () => {
    const problems = [problem('copy-stale', { subject: 'mappings' })];
    const stale = { at: now - 25 * hour, since: 0, endedAt: now - 24 * hour };
    expect((await check({ problems, copy, latestSync: stale })).ended).toEqual([]);
    const fresh = { ...stale, at: copy.completeUntil };
    const { ended } = await check({ problems, copy, latestSync: fresh });
    expect(ended).toEqual([[['copy-stale'], { at: now }]]);
    const missing = [problem('export-missing', { subject: 'export' })];
    const request = { requestedAt: now - 7 * hour };
    expect((await check({ problems: missing, request })).ended).toEqual([]);
    expect(
      (await check({ problems: missing, request, fetched: { fetchedAt: now - 7 * hour } })).ended,
    ).toEqual([[['export-missing'], { at: now }]]);
  });

  it('is over by itself, whatever else is found', async () => {
    const low = (subject: string) => problem('resource-low', { subject });
    const disks = [
      { place: 'full', bytes: 1 },
      { place: 'mappings', bytes: 1 },
      { place: 'freed', bytes: 9e9 },
    ].map((disk) => ({ ...disk, path: '/data', inodes: 1e6 }));
    const problems = [low('full'), low('freed'), problem('copy-stale', { subject: 'mappings' })];
    expect((await check({ problems, disks })).ended).toEqual([[['resource-low', 'copy-stale'], { at: now }]]);
  });

  it('of a sync is over when one has ended since people were told', async () => {
    const problems = [problem('sync-failing', { subject: 'all' })];
    const endedAfter = async (latestSync?: object) =>
      (await check({ problems, ...(latestSync && { latestSync }) })).ended.length === 1;
    expect(await endedAfter({ endedAt: now - 5 * hour + 1 })).toBe(true);
    expect(await endedAfter({ endedAt: now - 5 * hour })).toBe(false);
    expect(await endedAfter({})).toBe(false);
    expect(await endedAfter()).toBe(false);
  });

  it('of credentials is over after a success with them since people were told', async () => {
    const problems = [problem('credentials-refused', { subject: 'service' })];
    const isOver = async (run: Run) => (await check({ problems, runs: [run] })).ended.length === 1;
    expect(await isOver(good)).toBe(true);
    expect(await isOver({ ...good, finishedAt: now - 5 * hour })).toBe(false);
    expect(await isOver({ ...good, state: 'failed' })).toBe(false);
    const { finishedAt: _, ...unfinished } = good;
    expect(await isOver(unfinished)).toBe(false);
    expect((await check({ problems, runs: [good] })).asked).toContainEqual({ limit: 50 });
    expect((await check({ problems, runs: [{ ...good, state: 'failed' }, good] })).ended).toHaveLength(1);
    const bySftp = [problem('credentials-refused', { subject: 'sftp' })];
    expect((await check({ problems: bySftp, runs: [good] })).ended).toEqual([]);
  });

  it.each<[string, (at: number) => Given]>([
    ['service', (endedAt) => ({ latestSync: { endedAt } })],
    ['sftp', (fetchedAt) => ({ fetched: { fetchedAt } })],
    ['source', (collectedAt) => ({ runs: [{ ...good, state: 'failed', collectedAt }] })],
    ['queue', (finishedAt) => ({ runs: [{ ...good, finishedAt }] })],
    ['mailbox', (readUntil) => ({ mailbox: { readUntil } })],
  ])('of the %s is over once it took the account after people were told', async (subject, worked) => {
    const refused = problem('credentials-refused', { subject });
    const isOver = async (given: Given) => (await check({ problems: [refused], ...given })).ended.length > 0;
    expect(await isOver(worked(refused.lastToldAt + 1))).toBe(true);
    expect(await isOver(worked(refused.lastToldAt))).toBe(false);
    expect(await isOver({})).toBe(false);
  });

  it('of a channel is looked for among the newest thousand messages', async () => {
    const problems = [problem('credentials-refused', { subject: 'channel ops' })];
    expect((await check({ problems })).asked).toContainEqual({ limit: 1_000 });
  });

  it('of a machine that is gone is given up after two days', async () => {
    const told = (hours: number) => [problem('resource-low', { lastToldAt: now - hours * hour })];
    expect((await check({ problems: told(48) })).dismissed).toEqual([]);
    expect((await check({ problems: told(49) })).dismissed).toEqual(['resource-low']);
    const failing = [problem('sync-failing', { lastToldAt: now - 49 * hour })];
    expect((await check({ problems: failing })).dismissed).toEqual([]);
  });
});
