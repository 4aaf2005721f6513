import { describe, expect, it } from 'vitest';
import type { CaseSummary } from '../../src/ledger/cases.js';
import type { FetchedExport, MappingSync, RequestedExport } from '../../src/ledger/mappings.js';
import type { OpenProblem, StoredMessage } from '../../src/ledger/notices.js';
import { firstBound } from '../../src/mappings/sync-bounds.js';
import { type CheckParts, checkNotices, isReminderDue } from '../../src/notify/check-notices.js';
import type { NewNotice, NoticeEvent } from '../../src/rules/notice.js';
import type { Run } from '../../src/rules/run.js';
import { fakeLedger } from '../support/fake-ledger.js';

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

  it('is reported again once a day, at about the same time', () => {
    const everyHour = Array.from({ length: 96 }, (_, index) => index);
    expect(remindedAfter(...everyHour)).toEqual([22, 46, 70, 94]);
  });

  it('is reported again each night, even if one is shorter than the one before', () => {
    expect(remindedAfter(23.99, 47.98, 71, 95.5)).toEqual([23.99, 47.98, 71, 95.5]);
  });
});

type Disks = Awaited<ReturnType<CheckParts['measureFree']>>;

describe('a problem that lasts forever', () => {
  it('is reported again for a month', () => {
    const remindedAt = (days: number) =>
      isReminderDue({ raisedAt: at, lastToldAt: at + (days - 1) * 24 * hour }, at + days * 24 * hour);
    expect([remindedAt(1), remindedAt(31), remindedAt(32)]).toEqual([true, true, false]);
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

  /** The events that end, and those that are given up, with these runs in the ledger, the newest first. */
  async function check(
    listProblems: () => readonly OpenProblem[],
    runs: readonly Run[],
    {
      onLook = () => {},
      disks = [],
      messages = [],
    }: { onLook?: () => void; disks?: Disks; messages?: readonly StoredMessage[] } = {},
  ) {
    const ended: string[] = [];
    const dismissed: string[] = [];
    const reminded: OpenProblem['facts'][] = [];
    const noteIn = (events: string[]) => async (problems: readonly OpenProblem[]) => {
      events.push(...problems.map(({ event }) => event));
      return problems.length;
    };
    const ledger = fakeLedger({
      runs: { list: async () => [...runs] },
      notices: {
        raise: async () => 0,
        listProblems: async () => [...listProblems()],
        listWaiting: async () => [],
        listMessages: async () => [...messages],
        end: noteIn(ended),
        dismiss: async (problems) => void (await noteIn(dismissed)(problems)),
        remind: async (told) => {
          reminded.push(told.facts);
          return true;
        },
      },
      cases: {
        list: async () => {
          onLook();
          return [];
        },
      },
      exports: { latestRequest: async () => undefined, latestFetched: async () => undefined },
      mappings: { latestSync: async () => undefined },
    });
    await checkNotices({
      ledger,
      timezone: 'Europe/Madrid',
      findLateDays: async () => [],
      exportPatienceMs: 0,
      measureFree: async () => disks,
      findDigest: async () => undefined,
      clock: () => at + 2 * hour,
    });
    return { ended, dismissed, reminded };
  }

  async function findEnded(open: OpenProblem, ...runs: readonly Run[]): Promise<readonly string[]> {
    const { ended, dismissed } = await check(() => [open], runs);
    return [...ended, ...dismissed.map((event) => `${event}, without a word`)];
  }

  it('of a failed run by a good run after it', async () => {
    const failed = problem('run-failed', { day });
    expect(await findEnded(failed, good)).toEqual(['run-failed']);
    const later = { ...failed, raisedAt: at + 2 * hour };
    expect(await findEnded(later, good)).toEqual([]);
    // Another machine resumed it, and its clock is behind.
    expect(await findEnded({ ...later, runId: good.id }, good)).toEqual(['run-failed']);
  });

  it('of a late day by any good run: the clocks of two machines may differ', async () => {
    expect(await findEnded(problem('day-late', { day, raisedAt: at + 2 * hour }), good)).toEqual([
      'day-late',
    ]);
  });

  it('of few bookings once somebody has accepted them', async () => {
    const dropped = problem('volume-dropped', { day, runId: good.id });
    const drops = [{ provider: null, accepted: 3, usual: 400 }];
    const few: Run = { ...good, volume: { accepted: 3, usual: 400, drops } };
    expect(await findEnded(dropped, few)).toEqual([]);
    const acceptances = { volume: { at, by: 'ada' } };
    expect(await findEnded(dropped, { ...few, acceptances })).toEqual(['volume-dropped']);
  });

  it('of a failed run without a message if somebody gave up the latest run of its day', async () => {
    const failed = problem('run-failed', { day });
    const givenUp: Run = { ...good, state: 'cancelled', cancelReason: 'wrong export' };
    expect(await findEnded(failed, givenUp)).toEqual(['run-failed, without a word']);
    expect(await findEnded(failed, { ...good, state: 'failed' }, givenUp)).toEqual([]);
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
    const bySource = problem('credentials-refused', { subject: 'source' });
    expect(await findEnded(bySource, { ...good, state: 'failed', collectedAt: at + 1 })).toEqual([
      'credentials-refused',
    ]);
    expect(await findEnded(bySource, { ...good, collectedAt: 0 })).toEqual([]);
  });

  it('of an archive that refused us by a run that archived its file', async () => {
    const byArchive = problem('credentials-refused', { subject: 'archive' });
    expect(await findEnded(byArchive, good)).toEqual([]);
    expect(await findEnded(byArchive, { ...good, delivery: 'file' })).toEqual(['credentials-refused']);
  });

  it('of a channel that refused us once it takes a message, and without a word if nothing is sent to it', async () => {
    const byChannel = problem('credentials-refused', { subject: 'channel ops' });
    const sent = (channel: string, endedAt: number) => ({ channel, state: 'sent', endedAt }) as StoredMessage;
    const endedBy = async (...messages: readonly StoredMessage[]) =>
      (await check(() => [byChannel], [], { messages })).ended;
    expect(await endedBy(sent('ops', at - 1), sent('desk', at + 1))).toEqual([]);
    expect(await endedBy(sent('ops', at))).toEqual([]);
    expect(await endedBy({ ...sent('ops', at + 1), state: 'given-up' } as StoredMessage)).toEqual([]);
    expect(await endedBy(sent('ops', at + 1))).toEqual(['credentials-refused']);
    const silent = { ...byChannel, lastToldAt: at - 72 * hour };
    expect((await check(() => [silent], [])).dismissed).toEqual(['credentials-refused']);
  });

  it('not because another process raised it during the check', async () => {
    const problems: OpenProblem[] = [];
    const raised = problem('resource-low', { subject: 'the ledger' });
    const found = await check(() => [...problems], [], { onLook: () => problems.push(raised) });
    expect(found.ended).toEqual([]);
  });

  it('of a full disk by the machine that measures it', async () => {
    const low = problem('resource-low', { subject: 'the spool on one' });
    const check1 = (place: string, bytes: number) =>
      check(() => [low], [], { disks: [{ place, path: '/data', bytes, inodes: 1e6 }] });
    expect((await check1('the spool on two', 9e9)).ended).toEqual([]);
    expect((await check1('the spool on one', 1e8)).ended).toEqual([]);
    expect((await check1('the spool on one', 9e9)).ended).toEqual(['resource-low']);
  });

  it('without a message if it is a full disk of a machine that is gone', async () => {
    const before = (hours: number) => ({ raisedAt: at - hours * hour, lastToldAt: at - hours * hour });
    const low = (hours: number) => problem('resource-low', { subject: 'the spool on one', ...before(hours) });
    expect(await check(() => [low(30)], [])).toEqual({ ended: [], dismissed: [], reminded: [] });
    expect((await check(() => [low(50)], [])).dismissed).toEqual(['resource-low']);
  });

  it('or reported again with its current facts', async () => {
    const low = problem('resource-low', { subject: 'the ledger', facts: { free: '900 MB' } });
    const yesterday = { raisedAt: at - 30 * hour, lastToldAt: at - 30 * hour };
    const disks = [{ place: 'the ledger', path: '/data', bytes: 2_000_000, inodes: 1e6 }];
    const { reminded } = await check(() => [{ ...low, ...yesterday }], [], { disks });
    expect(reminded).toEqual([{ free: '2.0 MB', path: '/data' }]);
  });
});

describe('a check finds', () => {
  interface Looked {
    readonly cases?: readonly object[];
    readonly latestSync?: object;
    readonly request?: object;
    readonly fetched?: object;
    readonly free?: number;
    readonly inodes?: number;
  }

  /** What is raised, in a ledger without runs. */
  async function findRaised({ cases = [], latestSync, request, fetched, free, inodes = 1e6 }: Looked) {
    const raised: NewNotice[] = [];
    const ledger = fakeLedger({
      notices: {
        raise: async (notices) => raised.push(...notices),
        listProblems: async () => [],
        listWaiting: async () => [],
        end: async () => 0,
        dismiss: async () => {},
      },
      cases: { list: async () => [...cases] as CaseSummary[] },
      mappings: { latestSync: async () => latestSync as MappingSync | undefined },
      exports: {
        latestRequest: async () => request as RequestedExport | undefined,
        latestFetched: async () => fetched as FetchedExport | undefined,
      },
    });
    await checkNotices({
      ledger,
      timezone: 'Europe/Madrid',
      findLateDays: async () => [],
      copy: { completeUntil: at - 24 * hour },
      exportPatienceMs: 6 * hour,
      measureFree: async () =>
        free === undefined ? [] : [{ place: 'the ledger', path: '/data', bytes: free, inodes }],
      findDigest: async () => undefined,
      clock: () => at,
    });
    return raised.map(({ event, subject, facts }) => [event, subject, facts]);
  }

  it('a guest who checks in soon, once for each day of a case, unless the case was dismissed', async () => {
    const item = { id: 12, state: 'reported', nextCheckIn: '2026-11-22', inHouse: 0, openBookings: 2 };
    const { nextCheckIn: _, ...unknown } = item;
    const cases = [
      item,
      { ...unknown, id: 13, hasUnknownCheckIn: true },
      { ...item, id: 14, state: 'dismissed' },
      { ...item, id: 15, openBookings: 0 },
    ];
    expect(await findRaised({ cases })).toEqual([
      [
        'case-urgent',
        'case 13 on an unknown day',
        { case: '13', state: 'reported', firstCheckIn: 'an unknown day', openBookings: 2 },
      ],
      [
        'case-urgent',
        'case 12 on 2026-11-22',
        { case: '12', state: 'reported', firstCheckIn: '2026-11-22', openBookings: 2 },
      ],
    ]);
  });

  it('a guest who is in house, who does not hide the one who checks in next', async () => {
    const item = { id: 12, state: 'open', inHouse: 1, openBookings: 2, inHouseUntil: '2026-11-25' };
    const cases = [
      { ...item, firstCheckIn: '2026-11-01', nextCheckIn: '2026-11-22' },
      { ...item, id: 13, firstCheckIn: '2026-11-19', nextCheckIn: '2026-12-24' },
    ];
    const inHouse = { state: 'open', inHouseUntil: '2026-11-25', openBookings: 2 };
    expect(await findRaised({ cases })).toEqual([
      ['case-urgent', 'case 12 on 2026-11-01', { ...inHouse, case: '12', inHouseSince: '2026-11-01' }],
      ['case-urgent', 'case 13 on 2026-11-19', { ...inHouse, case: '13', inHouseSince: '2026-11-19' }],
      [
        'case-urgent',
        'case 12 on 2026-11-22',
        { case: '12', state: 'open', firstCheckIn: '2026-11-22', openBookings: 2 },
      ],
    ]);
  });

  it('a copy of the mappings that is older than it may be', async () => {
    const latestSync = { at: at - 50 * hour, since: 0, endedAt: at - 49 * hour };
    expect(await findRaised({ latestSync })).toEqual([['copy-stale', 'mappings', { hours: 50 }]]);
    expect(await findRaised({ latestSync: { ...latestSync, at: at - 23 * hour } })).toEqual([]);
    const first = { at: at - 23 * hour, since: firstBound };
    expect(await findRaised({ latestSync: first })).toEqual([]);
    expect(await findRaised({ latestSync: { ...first, at: at - 50 * hour } })).toMatchObject([
      ['copy-stale', 'mappings', { hours: 50 }],
    ]);
    const unended = { at: at - hour, since: at - 30 * hour };
    expect(await findRaised({ latestSync: unended })).toEqual([['copy-stale', 'mappings', { hours: 30 }]]);
    expect(await findRaised({})).toEqual([]);
  });

  it('an export that was requested and does not arrive', async () => {
    const request = { requestedAt: at - 6 * hour };
    expect(await findRaised({ request })).toEqual([['export-missing', 'export', {}]]);
    expect(await findRaised({ request, fetched: { fetchedAt: at - hour } })).toEqual([]);
    expect(await findRaised({ request, fetched: { fetchedAt: at - 9 * hour } })).toHaveLength(1);
    expect(await findRaised({ request: { requestedAt: at - 5 * hour } })).toEqual([]);
  });

  it('a disk with less than a gigabyte, or with less than a thousand inodes', async () => {
    const low = (free: string) => [['resource-low', 'the ledger', { free, path: '/data' }]];
    expect(await findRaised({ free: 999_999_999, inodes: 1_000 })).toEqual(low('1000.0 MB'));
    expect(await findRaised({ free: 1_000_000_000, inodes: 1_000 })).toEqual([]);
    expect(await findRaised({ free: 1_000_000_000, inodes: 999 })).toEqual(low('999 inodes'));
  });
});
