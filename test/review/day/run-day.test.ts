import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { DayBusyError } from '../../../src/review/day/join-run.js';
import { reviewDay } from '../../../src/review/review-day.js';
import { createPeerClocks } from '../../../src/transports/http/peer-clocks.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { createArraySource, records } from '../array-source.js';
import { unavailable } from '../scripted-service.js';
import { prepareWork, requestOf, reviewedDay, unstopped } from '../working-day.js';

const day = reviewedDay.iso;
const afterDay = reviewedDay.lastInstant.getTime() + 1;

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

describe('a day that is lost before its run is opened, to others that have done it since', () => {
  it('is done if processes work alone, and is not opened again', async () => {
    const work = await prepareWork();
    const { parts } = work.startAlone({ ledger: freezeInLook(work.ledger, 1) });
    expect(await reviewDay(requestOf(), parts, unstopped)).toMatchObject({ wasDone: true });
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject([{ id: 'run-of-others' }]);
    expect(work.calls).toEqual([]);
  });
});

/**
 * A process that is frozen right after it has read the day's run, for the first or second time while holding the right.
 * Meanwhile its lease expires, and others do the day.
 */
function freezeInLook(kept: Ledger, look: number): Ledger {
  const losing = new AbortController();
  let looks: number | undefined;
  return withReplaced(kept, {
    holds: {
      async day(ofDay) {
        const hold = await kept.holds.day(ofDay);
        if (looks !== undefined) return hold;
        looks = 0;
        return hold && { ...hold, lost: losing.signal };
      },
    },
    runs: {
      async latest(ofDay) {
        const latest = await kept.runs.latest(ofDay);
        if (looks !== undefined) looks += 1;
        if (looks !== look) return latest;
        losing.abort();
        const { id, token } = await kept.runs.create({
          id: 'run-of-others',
          day,
          delivery: 'body',
          trigger: 'manual',
          startedAt: afterDay,
        });
        await kept.runs.settle({ runId: id, token }, { state: 'succeeded', at: afterDay });
        return latest;
      },
    },
  });
}

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
