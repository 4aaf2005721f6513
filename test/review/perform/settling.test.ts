import { describe, expect, it } from 'vitest';
import type { Tally } from '../../../src/ledger/run-changes.js';
import type { FailedStep } from '../../../src/ledger/steps.js';
import { explainFailure, type PathSettings } from '../../../src/review/file/explain-failure.js';
import { settleIfDue } from '../../../src/review/perform/settle.js';
import type { Settlement } from '../../../src/rules/changes.js';
import type { Endpoints } from '../../../src/rules/peers.js';
import type { Run } from '../../../src/rules/run.js';
import { createPeerClocks } from '../../../src/transports/http/peer-clocks.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { someRun } from '../some-run.js';

const now = Date.UTC(2026, 10, 21, 3);
const ownClock = createPeerClocks(
  () => now,
  () => {},
);
const sums = { read: 110, accepted: 100, duplicates: 7, rejected: 2, filtered: 1 };
const counts = { ...sums, delivered: 90, refused: 10 };
const over: Run = someRun({ state: 'delivering', token: 4, counts });
const tally: Tally = {
  ...{ stored: 100, delivered: 90, refused: 10, pending: 0 },
  ...{ openSteps: 0, failedSteps: 0, retryableSteps: 0 },
};
const settledRun = someRun({ id: 'as the ledger says' });

interface Given {
  readonly tally?: Partial<Tally>;
  readonly maxRefusedShare?: number;
  readonly endpoints?: Endpoints;
  readonly paths?: PathSettings;
  /** Whether somebody else has settled the run. */
  readonly isLate?: boolean;
  /** By how much our clock is ahead of those of others. */
  readonly lead?: number;
  /** False where nobody explains failures. */
  readonly explains?: boolean;
}

/** What is settled, and what is told. */
async function settle(run: Run, given: Given = {}) {
  const settlements: [object, Settlement][] = [];
  const events: object[] = [];
  /** How often somebody looked whether its affected bookings are plausible. */
  let judged = 0;
  const ledger = fakeLedger({
    runs: {
      tally: async () => ({ ...tally, ...given.tally }),
      async settle(right, settlement) {
        settlements.push([right, settlement]);
        return given.isLate !== true;
      },
      get: async () => settledRun,
      async list() {
        judged += 1;
        return [];
      },
    },
    days: { listOutcomes: async () => [] },
  });
  const result = await settleIfDue(run, {
    ledger,
    retry: { tries: 3, baseMs: 1_000, capMs: 60_000, retryAfterCapMs: 60_000, waits: 2 },
    limits: { maxRefusedShare: given.maxRefusedShare ?? 0.1, maxAffectedShare: 1 },
    endpoints: given.endpoints,
    ...(given.explains !== false && {
      explainFailure: (failed: Run, step: FailedStep) => explainFailure(failed, step, given.paths),
    }),
    clock: () => now,
    notify: (event) => events.push(event),
    ...(given.lead !== undefined && { peerClocks: { ...ownClock, findLead: () => given.lead ?? 0 } }),
  });
  return { result, settlements, events, judged, failure: settlements[0]?.[1].failure };
}

describe('a run', () => {
  it('succeeds when all its steps are over and its sums add up; it is told once', async () => {
    const { result, settlements, events } = await settle(over);
    expect(settlements).toEqual([
      [
        { runId: over.id, token: 4 },
        { state: 'succeeded', at: now },
      ],
    ]);
    expect(events).toEqual([{ type: 'settled', run: settledRun }]);
    expect(result).toBe(settledRun);
    expect((await settle(over, { isLate: true })).events).toEqual([]);
  });

  it('is left alone while a step is open, and when it is over', async () => {
    for (const run of [
      { ...over, openSteps: 1 },
      someRun({ state: 'failed', failuresInRow: 99, failedSteps: 9 }),
    ])
      expect(await settle(run)).toEqual({ result: run, settlements: [], events: [], judged: 0 });
  });

  it('with carried bookings stores them beside its own', async () => {
    const run = { ...over, counts: { ...over.counts, carried: 5 } };
    expect((await settle(run, { tally: { stored: 105 } })).settlements[0]?.[1].state).toBe('succeeded');
  });

  it('is judged by its affected bookings only if it is about to succeed', async () => {
    const failedOne = await settle(over, { tally: { stored: 99 } });
    expect((await settle(over)).judged - failedOne.judged).toBe(1);
  });

  it('keeps by how much our clock is ahead of those of others, so that a day that is not over is not good', async () => {
    const { settlements } = await settle(over, { lead: 3_600_000 });
    expect(settlements[0]?.[1]).toMatchObject({ state: 'succeeded', clockLead: 3_600_000 });
  });

  it('awaits its result as long as that is only overdue', async () => {
    const late = { ...over, openSteps: 1, overdueAt: now };
    expect((await settle(late)).settlements).toEqual([]);
    const firstFailed = { name: 'batch 0', code: 'http-503', failureClass: 'retryable' } as const;
    const given = { tally: { openSteps: 1, failedSteps: 1, retryableSteps: 1, firstFailed } };
    expect((await settle({ ...late, failedSteps: 1 }, given)).failure).toMatchObject({
      code: 'steps-failed',
    });
  });
});

describe('a run stops, whatever is open,', () => {
  it('after five failed steps whose tries failed in a row, and names the service if it is known', async () => {
    const down = { ...over, openSteps: 9, failuresInRow: 15, failedSteps: 5 };
    const message = (server: string) =>
      `5 steps in a row ran out of tries: the service${server} seems to be down; run 2026-11-20 again when it is back`;
    const failure = { class: 'retryable', code: 'failures-in-row' };
    expect((await settle(down)).settlements).toEqual([
      [
        { runId: over.id, token: 4 },
        { state: 'failed', failure: { ...failure, message: message('') }, at: now },
      ],
    ]);
    const endpoints = { service: 'api.example:443' };
    expect((await settle(down, { endpoints })).failure?.message).toBe(message(' (api.example:443)'));
    expect((await settle({ ...down, failuresInRow: 14 })).settlements).toEqual([]);
    expect((await settle({ ...down, failuresInRow: 99, failedSteps: 4 })).settlements).toEqual([]);
  });

  it.each([
    [20, 0.19, '19%'],
    [20, 0.2, undefined],
    [19, 0, undefined],
    [21, 0.2, '20%'],
  ])('with %d of 100 bookings refused and a share of %d: %s', async (refused, maxRefusedShare, share) => {
    const run = { ...over, openSteps: 9, counts: { ...over.counts, refused } };
    const message = `the service refused ${refused} of 100 bookings, more than maxRefusedShare allows (${share})`;
    const failure = share && { class: 'refused', code: 'too-many-refused', message };
    expect((await settle(run, { maxRefusedShare })).failure).toEqual(failure);
  });
});

describe('a run fails', () => {
  it.each<[string, Partial<Run['counts']>, Partial<Tally>]>([
    ['not all that was read is accounted for', { read: 111 }, {}],
    ['duplicates differ', { duplicates: 6 }, {}],
    ['rejects differ', { rejected: 1 }, {}],
    ['filtered records differ', { filtered: 0 }, {}],
    ['not all bookings are stored', {}, { stored: 99 }],
    ['carried bookings are not stored', { carried: 3 }, {}],
    ['the steps have other bookings', {}, { pending: 1 }],
    ['fewer are delivered than was counted', {}, { delivered: 89, pending: 1 }],
    ['fewer are refused than was counted', {}, { refused: 9, pending: 1 }],
    ['a step is open', {}, { openSteps: 1 }],
  ])('if its sums do not add up: %s', async (_, differing, counted) => {
    const { failure } = await settle(
      { ...over, counts: { ...over.counts, ...differing } },
      { tally: counted },
    );
    expect(failure).toMatchObject({ class: 'internal', code: 'sums-differ' });
    expect(failure?.message).toMatch(
      /^the sums do not add up: \{"read":11\d,.*"stored":\d+,.*\}; please report this and keep the ledger$/,
    );
  });

  const failedBy = async (code: string, more: Partial<Tally> = {}, known: Given = {}) => {
    const failed = { name: 'upload', code, failureClass: 'retryable' as const };
    const pending = more.pending ?? 0;
    const run = { ...over, counts: { ...over.counts, delivered: 90 - pending } };
    const counted = {
      delivered: 90 - pending,
      failedSteps: 1,
      retryableSteps: 1,
      firstFailed: failed,
      ...more,
    };
    return (await settle(run, { tally: counted, ...known })).failure;
  };

  it.each([
    [{}, ': every booking is delivered; run'],
    [{ pending: 1 }, ': 1 of 100 bookings is not delivered; run'],
    [{ pending: 2, failedSteps: 3 }, ', and 2 more after it: 2 of 100 bookings are not delivered; run'],
  ])('by its first failed step, and says what is left: %o', async (more, words) => {
    expect(await failedBy('http-503', more)).toEqual({
      class: 'retryable',
      code: 'steps-failed',
      message: `upload failed with http-503${words} 2026-11-20 again`,
    });
  });

  it('after others, if what needs a person is named first', async () => {
    const firstFailed = { name: 'batch 7', code: 'http-400', failureClass: 'refused' } as const;
    expect((await failedBy('', { firstFailed, failedSteps: 3, retryableSteps: 1 }))?.message).toBe(
      'batch 7 failed with http-400, and 2 more: every booking is delivered; run 2026-11-20 again',
    );
  });

  it('with advice where the cause is a disk or a path, if anybody has some, and the server that was not reached', async () => {
    const known: Given = {
      endpoints: { service: 'api.example:443', sftp: 'sftp.example:22' },
      paths: { root: '/in', pathPrefix: '' },
    };
    const messageOf = async (code: string, given = known) =>
      (await failedBy(code, {}, given))?.message.replace('every booking is delivered', '…');
    const again = 'run 2026-11-20 again';
    expect(await messageOf('local-enospc')).toBe(
      `upload failed with local-enospc: …; free space on the disk of file.spool, then ${again}`,
    );
    expect(await messageOf('local-enospc', { explains: false })).toBe(
      `upload failed with local-enospc: …; ${again}`,
    );
    expect(await messageOf('sftp-no-such-file')).toContain('…; file.sftp.root must be');
    expect(await messageOf('sftp-no-such-file', {})).toContain(`…; ${again}`);
    expect(await messageOf('sftp-connection-lost')).toContain('sftp-connection-lost (sftp.example:22): ');
  });

  it('by a result that does not suffice, in the words for that', async () => {
    const verdicts = { affected: 0, unanswered: 1, unclear: 0, malformed: 0 };
    const run = { ...over, file: { rows: 10, verdicts } };
    const firstFailed = { name: 'await-result', code: 'result-incomplete', failureClass: 'data' as const };
    const settleWith = async (more: Partial<Tally>) =>
      (await settle(run, { tally: { firstFailed, ...more } })).failure;
    expect(await settleWith({ failedSteps: 1 })).toMatchObject({ class: 'data', code: 'result-incomplete' });
    // Another step may pass by itself: the run is tried again for that one, and says what needs a person.
    expect(await settleWith({ failedSteps: 2, retryableSteps: 1 })).toMatchObject({
      class: 'retryable',
      code: 'result-incomplete',
    });
  });
});
