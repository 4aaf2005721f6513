import { describe, expect, it } from 'vitest';
import type { CaseSummary } from '../../src/ledger/cases.js';
import type { FetchedExport, MappingSync, RequestedExport } from '../../src/ledger/mappings.js';
import type { OpenProblem, StoredMessage, WaitingMessages } from '../../src/ledger/notices.js';
import { firstBound } from '../../src/mappings/sync-bounds.js';
import {
  type CheckParts,
  checkNotices,
  findStaleBound,
  isReminderDue,
  tellUrgent,
} from '../../src/notify/check-notices.js';
import type { NewNotice, NoticeEvent } from '../../src/rules/notice.js';
import type { Run } from '../../src/rules/run.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
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
  /** While the cases are read. */
  readonly onLook?: () => void;
  readonly latestSync?: object;
  readonly request?: object;
  readonly fetched?: object;
  readonly mailbox?: object;
  readonly copy?: CheckParts['copy'];
  readonly disks?: Awaited<ReturnType<CheckParts['measureFree']>>;
  readonly waiting?: readonly WaitingMessages[];
  readonly messages?: readonly Partial<StoredMessage>[];
}

/** What one check asks of the ledger, and tells it. */
async function check(given: Given) {
  const told = {
    raised: [] as NewNotice[],
    ended: [] as (readonly [readonly string[], object])[],
    dismissed: [] as string[],
    reminded: [] as (readonly [string, object])[],
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
        return (given.messages ?? []) as StoredMessage[];
      },
      async end(problems, details) {
        if (problems.length > 0 || 'recovery' in details) told.ended.push([namesOf(problems), details]);
        return problems.length;
      },
      dismiss: async (problems) => void told.dismissed.push(...namesOf(problems)),
      remind: async ({ event, facts }, at) => told.reminded.push([`${event} at ${at - now}`, facts]) > 0,
    },
    cases: {
      async list(query) {
        told.asked.push(query);
        given.onLook?.();
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

  it('takes an arrival as urgent until the day after tomorrow, a missing day as unknown, and a guest in house', async () => {
    const item = { id: 1, state: 'reported', inHouse: 0, openBookings: 2 };
    const urgent = async (changes: object) =>
      (await check({ outlines: [{ ...item, ...changes }] })).raised.map(({ subject, facts }) => [
        subject,
        facts,
      ]);
    const facts = { case: '1', state: 'reported', openBookings: 2 };
    const soon = { nextCheckIn: '2026-11-23' };
    const arriving = ['case 1 on 2026-11-23', { ...facts, firstCheckIn: '2026-11-23' }];
    expect(await urgent(soon)).toEqual([arriving]);
    expect((await check({ outlines: [{ ...item, ...soon }] })).raised).toMatchObject([
      { event: 'case-urgent' },
    ]);
    expect(await urgent({ nextCheckIn: '2026-11-24' })).toEqual([]);
    expect(await urgent({})).toEqual([]);
    expect(await urgent({ ...soon, state: 'dismissed' })).toEqual([]);
    expect(await urgent({ ...soon, openBookings: 0 })).toEqual([]);
    expect(await urgent({ hasUnknownCheckIn: true })).toEqual([
      ['case 1 on an unknown day', { ...facts, firstCheckIn: 'an unknown day' }],
    ]);
    const stay = { inHouse: 1, firstCheckIn: '2026-11-01', inHouseUntil: '2026-11-25' };
    expect(await urgent({ ...stay, ...soon })).toEqual([
      ['case 1 on 2026-11-01', { ...facts, inHouseSince: '2026-11-01', inHouseUntil: '2026-11-25' }],
      arriving,
    ]);
    expect(await urgent({ inHouse: 1 })).toMatchObject([['case 1 on an unknown day', {}]]);
  });

  it('tells of guests in house first, then of unknown days, then of the nearest check-in', async () => {
    const item = { state: 'open', openBookings: 1, inHouse: 0, nextCheckIn: '2026-11-22' };
    const guest = { ...item, inHouse: 1, nextCheckIn: undefined };
    const outlines = [
      { ...item, id: 1, nextCheckIn: '2026-11-23' },
      { ...item, id: 2 },
      { ...item, id: 3, hasUnknownCheckIn: true },
      { ...guest, id: 4, firstCheckIn: '2026-11-19' },
      { ...guest, id: 5, firstCheckIn: '2026-11-03' },
    ];
    const { raised } = await check({ outlines });
    expect(raised.map(({ facts }) => facts.case)).toEqual(['5', '4', '3', '2', '1']);
    expect(tellUrgent(raised)).toEqual({ singly: raised });
    // Of more than twenty, the rest gets one message, which no other look repeats.
    const others = Array.from({ length: 1_101 }, (_, index) => ({ ...item, id: index + 1 }));
    const guests = Array.from({ length: 25 }, (_, index) => {
      return { ...guest, id: 2_000 + index, firstCheckIn: `2026-10-${String(index + 1).padStart(2, '0')}` };
    });
    const { raised: many } = await check({ outlines: [...others, ...guests] });
    expect(many[0]?.subject).toBe('case 2000 on 2026-10-01');
    const together = {
      ...{ event: 'case-urgent', subject: 'more from case 2020 on 2026-10-21', raisedAt: now },
      facts: { cases: 1_106, inHouse: 5 },
    };
    expect(tellUrgent(many)).toEqual({ singly: many.slice(0, 20), together });
  });

  it('finds a copy of the mappings that is older than it may be, an export that does not come, and a full disk', async () => {
    const find = async (given: Given) =>
      (await check({ copy: { completeUntil: now - 24 * hour }, ...given })).raised.map(
        ({ event, subject, facts }) => [event, subject, facts],
      );
    const staleFor = (hours: number) => [['copy-stale', 'mappings', { hours }]];
    const sync = { at: now - 50 * hour, since: 0, endedAt: now - 49 * hour };
    expect(await find({ latestSync: sync })).toEqual(staleFor(50));
    expect(await find({ latestSync: { ...sync, at: now - 23 * hour } })).toEqual([]);
    expect(await find({ latestSync: { at: now - 23 * hour, since: firstBound } })).toEqual([]);
    expect(await find({ latestSync: { at: now - hour, since: now - 30 * hour } })).toEqual(staleFor(30));
    const request = { requestedAt: now - 6 * hour };
    const missing = [['export-missing', 'export', {}]];
    expect(await find({ request })).toEqual(missing);
    expect(await find({ request, fetched: { fetchedAt: now - 9 * hour } })).toEqual(missing);
    expect(await find({ request: { requestedAt: now - 5 * hour } })).toEqual([]);
    const ofDisk = (bytes: number, inodes: number) =>
      find({ disks: [{ place: 'the ledger', path: '/data', bytes, inodes }] });
    const low = (free: string) => [['resource-low', 'the ledger', { free, path: '/data' }]];
    expect(await ofDisk(999_999_999, 1_000)).toEqual(low('1000.0 MB'));
    expect(await ofDisk(1_000_000_000, 1_000)).toEqual([]);
    expect(await ofDisk(1_000_000_000, 999)).toEqual(low('999 inodes'));
  });
});

describe('the problems of a day', () => {
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
    const few = { accepted: 3, usual: 400, drops: [{ provider: null, accepted: 3, usual: 400 }] };
    expect(await stillOpen({ ...good, volume: few })).toBe(true);
    const acceptances = { volume: { at: now, by: 'ada' } };
    expect(await stillOpen({ ...good, volume: few, acceptances })).toBe(false);
  });

  it('are those of that day alone, and lasting ones, among its fifty newest runs', async () => {
    const other = { day: '2026-11-19', subject: '2026-11-19' };
    const problems = [
      ...[ofDay('run-failed'), ofDay('day-late'), ofDay('run-failed', other)],
      problem('run-failed', { raisedAt: now }),
      ofDay('provider-silent'),
    ];
    const { ended, asked } = await check({ problems, runs: [good] });
    const recovery = { event: 'day-recovered', raisedAt: now };
    const facts = [{ ended: 'run-failed day-late' }, { ended: 'run-failed' }] as const;
    expect(ended).toEqual([
      [
        ['run-failed', 'day-late'],
        { at: now, recovery: { ...recovery, day, subject: day, facts: facts[0] } },
      ],
      [['run-failed'], { at: now, recovery: { ...recovery, ...other, facts: facts[1] } }],
    ]);
    expect(asked).toContainEqual({ day, limit: 50 });
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
    const both = await check({ problems: [ofDay('run-failed')], runs: [cancelled, good] });
    expect([both.ended.length, both.dismissed]).toEqual([1, []]);
  });

  it('are over by an older success if the day is late, or the run its own: clocks differ', async () => {
    const isOver = async (open: OpenProblem) =>
      (await check({ problems: [{ ...open, raisedAt: now }], runs: [good] })).ended.length > 0;
    expect(await isOver(ofDay('run-failed'))).toBe(false);
    expect(await isOver(ofDay('day-late'))).toBe(true);
    expect(await isOver(ofDay('run-failed', { runId: good.id }))).toBe(true);
  });
});

describe('any other problem', () => {
  const copy = { completeUntil: now - 24 * hour };

  it('is told again after a day, unless it is a disk that another machine measures', async () => {
    const yesterday = { raisedAt: now - 25 * hour, lastToldAt: now - 25 * hour };
    const problems = [problem('sync-failing', yesterday), problem('resource-low', yesterday)];
    expect((await check({ problems })).reminded).toEqual([['sync-failing at 0', {}]]);
    expect((await check({ problems: [problem('sync-failing')] })).reminded).toEqual([]);
    const disks = [{ place: day, path: '/data', bytes: 2_000_000, inodes: 1e6 }];
    const { reminded } = await check({ problems: [problem('resource-low', yesterday)], disks });
    expect(reminded).toEqual([['resource-low at 0', { free: '2.0 MB', path: '/data' }]]);
  });

  it('is told again once a day, at about the same time, for a month', () => {
    const remindedAfter = (...hours: readonly number[]) => {
      let lastToldAt = now;
      return hours.filter((after) => {
        const isDue = isReminderDue({ raisedAt: now, lastToldAt }, now + after * hour);
        if (isDue) lastToldAt = now + after * hour;
        return isDue;
      });
    };
    expect(remindedAfter(...Array.from({ length: 96 }, (_, index) => index))).toEqual([22, 46, 70, 94]);
    expect(remindedAfter(23.99, 47.98, 71, 95.5)).toEqual([23.99, 47.98, 71, 95.5]);
    expect(remindedAfter(31 * 24, 32 * 24)).toEqual([31 * 24]);
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
    for (const requestedAt of [now - 7 * hour, now])
      expect((await check({ problems: missing, request: { requestedAt } })).ended).toEqual([]);
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
    const problems = [
      low('full'),
      low('freed'),
      low('of another machine'),
      problem('copy-stale', { subject: 'mappings' }),
    ];
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

  it('of credentials is over by a good run that used them', async () => {
    const isOver = async (subject: string, run: Partial<Run>) => {
      const problems = [problem('credentials-refused', { subject })];
      const failed: Run = { ...good, state: 'failed' };
      return (await check({ problems, runs: [failed, { ...good, ...run }] })).ended.length === 1;
    };
    expect(await isOver('service', {})).toBe(true);
    expect(await isOver('service', { state: 'failed' })).toBe(false);
    expect(await isOver('service', { counts: { ...good.counts, delivered: 0 } })).toBe(false);
    expect(await isOver('sftp', { delivery: 'file', file: {} })).toBe(false);
    expect(await isOver('sftp', {})).toBe(false);
    expect(await isOver('sftp', { file: { triggeredAt: now } })).toBe(true);
    expect(await isOver('archive', {})).toBe(false);
    expect(await isOver('archive', { delivery: 'file' })).toBe(true);
    for (const subject of ['service', 'source']) {
      const problems = [problem('credentials-refused', { subject })];
      expect((await check({ problems })).asked).toContainEqual({ limit: 50 });
    }
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

  it('of a channel is over once it takes a message, among the newest thousand', async () => {
    const refused = problem('credentials-refused', { subject: 'channel ops' });
    const told = refused.lastToldAt;
    const checkWith = (message: Partial<StoredMessage>) =>
      check({
        problems: [refused],
        messages: [{ channel: 'ops', state: 'sent', endedAt: told + 1, ...message }],
      });
    const { ended, asked } = await checkWith({});
    expect(ended).toHaveLength(1);
    expect(asked).toContainEqual({ limit: 1_000 });
    for (const other of [{ channel: 'desk' }, { endedAt: told }, { state: 'given-up' }] as const)
      expect((await checkWith(other)).ended).toEqual([]);
    const silent = { ...refused, lastToldAt: now - 72 * hour };
    expect((await check({ problems: [silent] })).dismissed).toEqual(['credentials-refused']);
  });

  it('is not over because another process raised it during the check', async () => {
    const problems: OpenProblem[] = [];
    const onLook = () => problems.push(problem('copy-stale', { subject: 'mappings' }));
    expect((await check({ problems, onLook })).ended).toEqual([]);
  });

  it('of a machine that is gone is given up after two days', async () => {
    const told = (hours: number) => [problem('resource-low', { lastToldAt: now - hours * hour })];
    expect((await check({ problems: told(48) })).dismissed).toEqual([]);
    expect((await check({ problems: told(49) })).dismissed).toEqual(['resource-low']);
    const failing = [problem('sync-failing', { lastToldAt: now - 49 * hour })];
    expect((await check({ problems: failing })).dismissed).toEqual([]);
  });
});

it('the copy of the mappings is stale after two cron times without a sync, on days of the zone', () => {
  const cronTimes = createCronTimes('0 1 * * *', 'Europe/Madrid');
  // The clocks went back in between.
  const completeUntil = Date.parse('2026-10-23T23:00:00Z');
  expect(findStaleBound(cronTimes, Date.parse('2026-10-25T12:00:00Z'))).toEqual({ completeUntil });
});
