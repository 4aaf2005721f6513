import { describe, expect, it } from 'vitest';
import { SourceError } from '../../../src/booking/source.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { DayBusyError } from '../../../src/review/day/join-run.js';
import { openRun } from '../../../src/review/day/open-run.js';
import { type RunRequest, reviewDay } from '../../../src/review/review-day.js';
import { createPeerClocks } from '../../../src/transports/http/peer-clocks.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { createArraySource, records } from '../array-source.js';
import { unavailable } from '../scripted-service.js';
import { prepareWork, requestOf, reviewedDay, unstopped } from '../working-day.js';

describe('a day', () => {
  it('that was collected with names is not resumed once they are to be left out', async () => {
    const work = await prepareWork();
    await reviewDay(requestOf(), work.startAlone({ answer: () => unavailable }).parts, unstopped);
    const { parts } = work.startAlone();
    const nameless = { ...parts.deliveryFor('body'), names: 'omit' as const };
    const resuming = reviewDay(requestOf(), { ...parts, deliveryFor: () => nameless }, unstopped);
    await expect(resuming).rejects.toThrow(
      'resuming it would send the names that guestNames: omit leaves out',
    );
    expect(work.accepted).toEqual([]);
  });

  it('whose source is missing says until when it is tried again, and once that it is late', async () => {
    const work = await prepareWork();
    const missing = new SourceError('missing', 'there is no file');
    const { parts, reported } = work.startAlone({ source: createArraySource([missing]) });
    const until = Date.now() + 3_600_000;
    const trying = { ...parts, findSourceDeadline: () => until };
    for (const _ of [1, 2]) {
      const { run } = await reviewDay(requestOf(), trying, unstopped);
      expect(run).toMatchObject({
        ...{ state: 'failed', failure: { class: 'data', code: 'missing' } },
      });
      expect(run.failure?.message).toMatch(/^there is no file; it is tried again until \S+ \S+$/);
    }
    expect(
      ['settled', 'source-late', 'source-still-missing'].map((type) => reported(type as 'settled').length),
    ).toEqual([1, 1, 1]);
  });

  it('whose volume was accepted stays so for late bookings, and is compared anew by a replay', async () => {
    const work = await prepareWork();
    const acceptedBy = async (changes: Partial<RunRequest>) => {
      const { run } = await reviewDay(requestOf(changes), work.startAlone().parts, unstopped);
      return run.acceptances?.volume?.by;
    };
    expect(await acceptedBy({ accepts: { kinds: ['volume'], by: 'Ana' } })).toBe('Ana');
    expect(await acceptedBy({ mode: 'late' })).toBe('Ana');
    expect(await acceptedBy({ mode: 'replay' })).toBeUndefined();
  });

  it('is not opened by a process that lost it meanwhile', async () => {
    const work = await prepareWork();
    const hold = { lost: AbortSignal.abort(), release: async () => {} };
    expect(await openRun(requestOf(), work.startAlone().parts, hold)).toBe('lost');
    expect(await work.ledger.runs.list({ limit: 9 })).toEqual([]);
  });

  it('that is not over by the clocks of others is topped up until it is', async () => {
    const work = await prepareWork();
    const tooEarly = Date.now() - reviewedDay.lastInstant.getTime() + 3_600_000;
    const known = createPeerClocks(Date.now, () => {});
    const reviewWith = async (lead: number | undefined) => {
      const peerClocks = { ...known, findLead: () => lead };
      const { run, wasDone } = await reviewDay(
        requestOf(),
        { ...work.startAlone().parts, peerClocks },
        unstopped,
      );
      return { wasDone, topsUp: run.topsUp, lead: run.clockLead };
    };
    expect(await reviewWith(tooEarly)).toEqual({ wasDone: false, lead: tooEarly });
    // It asked nobody: there was nothing to send.
    expect(await reviewWith(undefined)).toEqual({ wasDone: false, topsUp: true, lead: tooEarly });
    expect(await reviewWith(0)).toEqual({ wasDone: false, topsUp: true });
    expect(await reviewWith(0)).toEqual({ wasDone: true, topsUp: true });
  });
});

describe('a day that is lost while it is collected', () => {
  it('is joined if processes share the work', async () => {
    const work = await prepareWork();
    const { ledger, source } = loseInCollect(work.ledger);
    const { parts, reported } = work.startShared({ ledger, source });
    const { run } = await reviewDay(requestOf(), parts, unstopped);
    expect(run).toMatchObject({ state: 'succeeded', counts: { read: 12, delivered: 12, repeated: 0 } });
    expect(reported('run-opened')).toMatchObject([{ isResumed: false }, { isResumed: true }]);
    expect(await work.ledger.runs.list({ limit: 9 })).toHaveLength(1);
  });

  it('is not replayed a second time', async () => {
    const work = await prepareWork();
    await reviewDay(requestOf(), work.startAlone().parts, unstopped);
    const { ledger, source } = loseInCollect(work.ledger);
    const { parts } = work.startShared({ ledger, source });
    await expect(
      reviewDay(requestOf({ mode: 'replay', trigger: 'replay' }), parts, unstopped),
    ).rejects.toThrow(DayBusyError);
    expect(await work.ledger.runs.list({ limit: 9 })).toHaveLength(2);
  });
});

/** A ledger whose first hold is lost when the source is first read, and that source. */
function loseInCollect(kept: Ledger) {
  const losing = new AbortController();
  let holds = 0;
  const ledger = withReplaced(kept, {
    holds: {
      async day(ofDay) {
        const hold = await kept.holds.day(ofDay);
        holds += 1;
        return hold && holds === 1 ? { ...hold, lost: losing.signal } : hold;
      },
    },
  });
  const source = createArraySource([records(0, 12)], {
    onPull() {
      losing.abort();
    },
  });
  return { ledger, source };
}
