import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimStep, done, perform, record, startCollect } from '../contracts/ledger/days.js';
import { collectedFileRun, performUpTo } from '../contracts/ledger/file-days.js';
import { type OpenedSqliteLedger, openSqliteLedger } from './opened-ledger.js';

const verdicts = { affected: 1, unanswered: 0, unclear: 0, malformed: 0 };

describe('collecting a file run again', () => {
  let opened: OpenedSqliteLedger;
  beforeEach(async () => {
    opened = await openSqliteLedger();
  });
  afterEach(() => opened.cleanUp());

  it('starts with no file, no attempt and nothing affected, whatever was there before', async () => {
    const { ledger } = opened;
    const run = await collectedFileRun(ledger, 'r1');
    await performUpTo(ledger, run, 'await-result');
    const claim = await claimStep(ledger, run, 'archive');
    const judged = [{ batch: 1, judged: 'incorrect', rows: [0] }] as const;
    await record(ledger, claim, { ...done, file: { verdicts }, verdicts: judged }, 7);
    opened.openRaw().exec(`UPDATE runs SET state = 'collecting', collected_at = NULL`);

    await startCollect(ledger, run);
    const recollected = await ledger.runs.get('r1');
    expect(recollected).toMatchObject({
      openSteps: 0,
      counts: { affected: null, delivered: 0, repeated: 0 },
    });
    expect(recollected).not.toHaveProperty('file');
    expect(await ledger.bookings.nextJudged('r1', 'incorrect')).toBeUndefined();
    expect(await ledger.bookings.measureBatches('r1', 'file')).toEqual({ batches: 0, bookings: 0 });
    expect(await ledger.steps.listAttempts('r1', 'trigger')).toEqual([]);
    expect(await ledger.steps.listOpen('r1', { limit: 9 })).toEqual([]);
    await expect(perform(ledger, recollected, 'write', done)).rejects.toThrow('expected a claim');
  });
});
