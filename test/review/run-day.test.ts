import { describe, expect, it } from 'vitest';
import type { Hold, Ledger } from '../../src/ledger/ledger.js';
import { DayBusyError, UsageError } from '../../src/review/refusals.js';
import { runDay } from '../../src/review/run-day.js';
import { SourceError } from '../../src/sources/source.js';
import { createArraySource, records } from './array-source.js';
import { prepareWork, requestOf, reviewedDay, unstopped } from './working-day.js';

const day = reviewedDay.iso;

describe('a day', () => {
  it('that is done stays as it is', async () => {
    const work = await prepareWork();
    const { run } = await runDay(requestOf(), work.startAlone().parts, unstopped);
    const again = await runDay(requestOf(), work.startAlone().parts, unstopped);
    expect(again).toEqual({ run, wasDone: true });
    expect(work.calls).toHaveLength(6);
    expect(await work.ledger.holdDay(day)).toBeDefined();
  });

  it('whose source is broken fails, with nothing sent, and is collected again', async () => {
    const work = await prepareWork();
    const broken = createArraySource([
      records(0, 3),
      new SourceError('unreadable', 'the file ends in a record'),
    ]);
    const { run } = await runDay(requestOf(), work.startAlone({ source: broken }).parts, unstopped);
    expect(run).toMatchObject({ state: 'failed', failure: { class: 'data' } });
    expect(work.calls).toEqual([]);
    const { run: after } = await runDay(requestOf(), work.startAlone().parts, unstopped);
    expect(after).toMatchObject({ id: run.id, state: 'succeeded', counts: { read: 12, delivered: 12 } });
  });

  it('is free again after a usage error', async () => {
    const work = await prepareWork();
    const stop = new AbortController();
    const { parts } = work.startAlone({
      source: createArraySource([records(0, 3)], { onPull: () => stop.abort() }),
    });
    await runDay(requestOf(), parts, stop.signal);
    await expect(runDay(requestOf({ mode: 'replay' }), parts, unstopped)).rejects.toThrow(UsageError);
    expect(await work.ledger.holdDay(day)).toBeDefined();
  });

  it('that is stopped while it is collected is collected again by the next run', async () => {
    const work = await prepareWork();
    const stop = new AbortController();
    const source = createArraySource([records(0, 3), records(3, 9)], { onPull: () => stop.abort() });
    const { run } = await runDay(requestOf(), work.startAlone({ source }).parts, stop.signal);
    expect(run).toMatchObject({ state: 'collecting' });
    const { run: after } = await runDay(requestOf(), work.startAlone().parts, unstopped);
    expect(after).toMatchObject({ id: run.id, state: 'succeeded', token: 2, counts: { read: 12 } });
  });
});

describe('a day that is lost while it is collected', () => {
  it('stays with who has it now, where processes work alone', async () => {
    const work = await prepareWork();
    const { ledger, source } = loseInCollect(work.ledger);
    const { parts } = work.startAlone({ ledger, source });
    await expect(runDay(requestOf(), parts, unstopped)).rejects.toThrow(
      new DayBusyError(`${day} was taken over by another process`),
    );
    expect(work.calls).toEqual([]);
  });

  it('is joined, where processes share the work', async () => {
    const work = await prepareWork();
    const { ledger, source } = loseInCollect(work.ledger);
    const { parts, told } = work.startShared({ ledger, source });
    const { run } = await runDay(requestOf(), parts, unstopped);
    expect(run).toMatchObject({ state: 'succeeded', counts: { read: 12, delivered: 12, repeated: 0 } });
    expect(told('run-opened')).toMatchObject([{ isResumed: false }, { isResumed: true }]);
    expect(await work.ledger.listRuns({ limit: 9 })).toHaveLength(1);
  });

  it('is not replayed once more', async () => {
    const work = await prepareWork();
    await runDay(requestOf(), work.startAlone().parts, unstopped);
    const { ledger, source } = loseInCollect(work.ledger);
    const { parts } = work.startShared({ ledger, source });
    await expect(runDay(requestOf({ mode: 'replay', trigger: 'replay' }), parts, unstopped)).rejects.toThrow(
      DayBusyError,
    );
    expect(await work.ledger.listRuns({ limit: 9 })).toHaveLength(2);
  });
});

/** A ledger whose first hold is lost when the source is first asked, and that source. */
function loseInCollect(kept: Ledger) {
  const losing = new AbortController();
  let holds = 0;
  const ledger: Ledger = {
    ...kept,
    async holdDay(ofDay): Promise<Hold | undefined> {
      const hold = await kept.holdDay(ofDay);
      holds += 1;
      return hold && holds === 1 ? { ...hold, lost: losing.signal } : hold;
    },
  };
  const source = createArraySource([records(0, 12)], {
    onPull() {
      losing.abort();
    },
  });
  return { ledger, source };
}
