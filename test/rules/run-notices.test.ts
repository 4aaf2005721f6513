import { describe, expect, it } from 'vitest';
import type { Run } from '../../src/rules/run.js';
import { noticesOfRun, noticesOfVolume } from '../../src/rules/run-notices.js';

const at = 1_000;
const counts: Run['counts'] = {
  read: 10,
  accepted: 10,
  duplicates: 0,
  rejected: 0,
  filtered: 0,
  carried: 0,
  delivered: 4,
  refused: 0,
  pending: 6,
  repeated: 0,
  posted: 0,
  affected: null,
  unanswered: null,
};
const delivering: Run = {
  id: 'r1',
  day: '2026-11-20',
  delivery: 'file',
  trigger: 'schedule',
  state: 'delivering',
  token: 1,
  startedAt: 0,
  counts,
  pausedMs: 0,
  openSteps: 1,
  failedSteps: 0,
  failuresInRow: 0,
  verdictsRecorded: 0,
};
const failedWith = (code: string, changes: Partial<Run> = {}): Run => ({
  ...delivering,
  state: 'failed',
  failure: { class: 'fatal', code, message: 'stopped' },
  ...changes,
});
const eventsOf = (after: Run, before: Run = delivering) =>
  noticesOfRun(before, after, at).map(({ event, subject, severity }) => [event, subject, severity]);

describe('a run', () => {
  it('that fails is reported with its reason, its trigger and what is left to do', () => {
    const facts = {
      code: 'sums-differ',
      message: 'stopped',
      ...{ trigger: 'schedule', accepted: 10, delivered: 4, pending: 6 },
    };
    const about = { day: '2026-11-20', runId: 'r1', raisedAt: at, subject: '2026-11-20' };
    expect(noticesOfRun(delivering, failedWith('sums-differ'), at)).toEqual([
      { ...about, event: 'run-failed', severity: 'critical', facts },
    ]);
    const { failure: _, ...unexplained } = failedWith('');
    expect(noticesOfRun(delivering, unexplained, at)).toEqual([
      {
        ...about,
        event: 'run-failed',
        severity: 'critical',
        facts: { ...facts, code: 'unknown', message: '' },
      },
    ]);
    expect(noticesOfRun(unexplained, unexplained, at)).toEqual([]);
  });

  it('that succeeds with implausibly many affected bookings is a problem of its day, unless somebody accepted as many', () => {
    const after: Run = { ...delivering, state: 'succeeded', implausible: { affected: 30, judged: 200 } };
    const told = [['affected-implausible', '2026-11-20', undefined]];
    const acceptedWith = (affected: number) => ({ affected: { at, by: 'ada', affected } });
    expect(eventsOf(after)).toEqual(told);
    expect(eventsOf({ ...after, acceptances: acceptedWith(29) })).toEqual(told);
    expect(eventsOf({ ...after, acceptances: acceptedWith(30) })).toEqual([]);
    expect(eventsOf(after, after)).toEqual([]);
    expect(eventsOf({ ...after, state: 'cancelled' })).toEqual([]);
    expect(noticesOfRun(delivering, after, at)).toMatchObject([{ facts: { affected: 30, judged: 200 } }]);
  });

  it('whose source may still arrive is reported as a warning, unless a person started it', () => {
    expect(eventsOf(failedWith('missing'))).toEqual([['run-failed', '2026-11-20', 'warning']]);
    expect(eventsOf(failedWith('missing', { trigger: 'hook' }))).toEqual([
      ['run-failed', '2026-11-20', 'warning'],
    ]);
    expect(eventsOf(failedWith('missing', { trigger: 'manual' }))).toEqual([
      ['run-failed', '2026-11-20', 'critical'],
    ]);
    expect(eventsOf(failedWith('source-given-up'), failedWith('missing'))).toEqual([
      ['run-failed', '2026-11-20', 'critical'],
    ]);
  });

  it('of the current day is reported as a warning', () => {
    expect(eventsOf(failedWith('binary', { trigger: 'today' }))).toEqual([
      ['run-failed', '2026-11-20', 'warning'],
    ]);
  });

  it.each([
    ['http-401', 'service'],
    ['sftp-authentication-refused', 'sftp'],
    ['login-refused', 'source'],
  ])('that stops with %s also reports whose credentials were refused', (code, subject) => {
    const [failed, refused] = noticesOfRun(delivering, failedWith(code), at);
    expect(failed).toMatchObject({ event: 'run-failed', subject: '2026-11-20' });
    expect(refused).toMatchObject({ event: 'credentials-refused', subject, facts: { code } });
    expect(refused).not.toHaveProperty('severity');
  });

  it('whose result names affected bookings reports how many, once', () => {
    const judged = { ...delivering, counts: { ...counts, affected: 2, unanswered: 0 } };
    expect(noticesOfRun(delivering, judged, at)).toEqual([
      {
        event: 'affected-found',
        subject: 'r1: 2',
        day: '2026-11-20',
        runId: 'r1',
        facts: { affected: 2, unanswered: 0 },
        raisedAt: at,
      },
    ]);
    expect(noticesOfRun(judged, judged, at)).toEqual([]);
    expect(noticesOfRun(delivering, { ...judged, counts: { ...counts, affected: 0 } }, at)).toEqual([]);
  });

  it('whose result is set aside reports that, once for each, without the name that others gave it', () => {
    const setAside = (count: number): Run => ({
      ...delivering,
      file: {
        setAside: Array.from({ length: count }, (_, index) => ({
          name: 'Ana Example_Result.csv',
          archivedAs: `foreign-0123456789a${index}-Ana Example_Result.csv`,
          foreign: 9,
          ours: index,
        })),
      },
    });
    expect(noticesOfRun(setAside(1), setAside(2), at)).toEqual([
      {
        event: 'result-set-aside',
        subject: 'r1: foreign-0123456789a1',
        day: '2026-11-20',
        runId: 'r1',
        facts: { foreign: 9, ours: 1 },
        raisedAt: at,
      },
    ]);
    expect(noticesOfRun(setAside(2), setAside(2), at)).toEqual([]);
    expect(noticesOfRun({ ...delivering, file: {} }, setAside(1), at)).toHaveLength(1);
    expect(noticesOfRun(delivering, setAside(1), at)).toHaveLength(1);
  });

  it('whose result is incomplete reports that, too', () => {
    const failed = failedWith('result-incomplete', { counts: { ...counts, unanswered: 3 } });
    expect(noticesOfRun(delivering, failed, at)).toMatchObject([
      { event: 'run-failed' },
      { event: 'result-incomplete', subject: '2026-11-20', facts: { accepted: 10, unanswered: 3 } },
    ]);
  });

  it('whose result is overdue is reported as late', () => {
    expect(noticesOfRun(delivering, delivering, at, 'overdue')).toEqual([
      {
        event: 'result-late',
        subject: '2026-11-20',
        ...{ day: '2026-11-20', runId: 'r1', raisedAt: at },
        facts: { delivered: 4 },
      },
    ]);
    expect(noticesOfRun(delivering, delivering, at, 'done')).toEqual([]);
  });

  it('with too few bookings reports the drops together, and each silent provider', () => {
    const drop = {
      accepted: 50,
      usual: 500,
      drops: [
        { provider: null, accepted: 50, usual: 500 },
        { provider: 'Bedlink', accepted: 0, usual: 412 },
        { provider: 'NorthStar', accepted: 1, usual: 60 },
      ],
    };
    expect(
      noticesOfVolume(delivering, drop, at).map(({ event, subject, facts }) => [event, subject, facts]),
    ).toEqual([
      [
        'volume-dropped',
        '2026-11-20',
        { accepted: 50, usual: 500, drops: '50 bookings, usually 500; NorthStar: 1, usually 60' },
      ],
      ['provider-silent', 'Bedlink on 2026-11-20', { provider: 'Bedlink', usual: 412 }],
    ]);
    const about = { day: '2026-11-20', runId: 'r1', raisedAt: at };
    expect(noticesOfVolume(delivering, drop, at)).toMatchObject([about, about]);
    const onlySilent = { ...drop, drops: drop.drops.slice(1, 2) };
    expect(noticesOfVolume(delivering, onlySilent, at)).toHaveLength(1);
    const nothing = { accepted: 0, usual: 500, drops: [{ provider: null, accepted: 0, usual: 500 }] };
    expect(noticesOfVolume(delivering, nothing, at)).toMatchObject([
      { event: 'volume-dropped', subject: '2026-11-20' },
    ]);
    const ofProviders = { ...drop, drops: drop.drops.slice(1) };
    expect(noticesOfVolume(delivering, ofProviders, at).map(({ subject }) => subject)).toEqual([
      'providers on 2026-11-20',
      'Bedlink on 2026-11-20',
    ]);
  });

  it('tells of a provider once while it is silent, and of a low volume that leaves the day good', () => {
    const known = { provider: 'Bedlink', accepted: 0, usual: 40, silentSince: '2026-11-18' };
    expect(noticesOfVolume(delivering, { accepted: 460, usual: 500, drops: [known] }, at)).toEqual([]);
    expect(noticesOfVolume(delivering, { accepted: 370, usual: 500, isLow: true, drops: [] }, at)).toEqual([
      {
        ...{ event: 'volume-low', subject: '2026-11-20', facts: { accepted: 370, usual: 500 } },
        ...{ day: '2026-11-20', runId: 'r1', raisedAt: at },
      },
    ]);
  });
});
