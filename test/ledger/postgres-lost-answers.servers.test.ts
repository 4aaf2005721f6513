import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.js';
import { planBatches } from '../../src/rules/batch-plan.js';
import {
  at,
  batchOf,
  chunkOf,
  claimStep,
  collectedRun,
  day,
  done,
  failed,
  fatal,
  halved,
  interrupted,
  look,
  newRun,
  record,
  references,
  refused,
  retry,
  rightOf,
  startCollect,
} from '../contracts/ledger/days.js';
import { listAll, newSync, pageOf, rowOf } from '../contracts/mapping-copy/pages.js';
import { postgresNeeds } from '../support/postgres.js';
import { usePostgres } from '../support/use-servers.js';
import { type AnswerCutter, startAnswerCutter } from './answer-cutter.js';
import { type OpenedPostgresLedger, openPostgresLedger } from './opened-postgres.js';

describe('when the connection ends between a commit and its answer', () => {
  const postgres = usePostgres();
  let cutter: AnswerCutter;
  let opened: OpenedPostgresLedger;
  /** Its connections go through the cutter. */
  let ledger: Ledger;

  beforeAll(async () => {
    if (postgresNeeds === undefined) cutter = await startAnswerCutter(postgres().port);
  });
  afterAll(() => cutter?.stop());
  beforeEach(async () => {
    opened = await openPostgresLedger(postgres());
    ledger = opened.open({ url: postgres().overTcp(opened.url, { port: cutter.port }) });
  });
  afterEach(() => opened.cleanUp());

  /** Runs the work while the answer to its first commit is lost. */
  async function losing<Result>(text: string, work: () => Promise<Result>): Promise<Result> {
    const before = cutter.cuts;
    cutter.cutAnswerTo(text);
    const result = await work();
    expect(cutter.cuts, 'connections cut').toBe(before + 1);
    return result;
  }

  it('a run is created once, and reported as created', async () => {
    const run = await losing('COMMIT', () => ledger.runs.create(newRun('r1')));
    expect(run).toEqual(await opened.ledger.runs.get('r1'));
    expect(await opened.ledger.runs.list({ limit: 9 })).toHaveLength(1);
  });

  it('each chunk of a collect is stored once, and the plan is written once', async () => {
    const run = await ledger.runs.create(newRun('r1'));
    const collect = await losing('COMMIT', () => startCollect(ledger, run));
    for (let number = 0; number < 4; number += 1) {
      const chunk = chunkOf({
        batches: [batchOf(number, references(4, `BR-${number}`))],
        duplicates: 1,
        rejects: [{ place: number, reason: 'wrong-cell-count', reference: 'bad' }],
        warnings: [{ reason: 'absent-column', count: 1 }],
      });
      await losing('COMMIT', () => collect.store(chunk));
    }
    const planned = await losing('COMMIT', () => collect.finish({ steps: planBatches(16, 4), at }));
    expect(planned).toMatchObject({
      state: 'delivering',
      openSteps: 4,
      counts: { read: 24, accepted: 16, duplicates: 4, rejected: 4 },
    });
    expect(await opened.ledger.runs.tally('r1')).toMatchObject({ stored: 16, openSteps: 4 });
    expect(await ledger.rejects.countWarnings('r1')).toEqual([{ reason: 'absent-column', count: 4 }]);
    expect(await ledger.bookings.trace('BR-2-3')).toHaveLength(1);
    expect(await ledger.bookings.trace('bad')).toHaveLength(4);
  });

  it('a chunk that never reached the server is still stored', async () => {
    const collect = await startCollect(ledger, await ledger.runs.create(newRun('r1')));
    const before = cutter.cuts;
    for (const [number, text] of ['COMMIT', 'COPY', 'FOR NO KEY UPDATE'].entries()) {
      cutter.cutRequest(text);
      await collect.store(chunkOf({ batches: [batchOf(number, ['a', 'b', 'c', 'd'])] }));
    }
    expect(cutter.cuts).toBe(before + 3);
    expect(await opened.ledger.runs.tally('r1')).toMatchObject({ stored: 12 });
    expect((await opened.ledger.runs.get('r1')).counts).toMatchObject({ read: 12, accepted: 12 });
  });

  it('a claim is recognised as ours, and a step that somebody else claimed is not', async () => {
    const run = await collectedRun(ledger, 'r1');
    const claim = await losing('claim step', () => claimStep(ledger, run, 'batch 0'));
    expect(claim).toMatchObject({ attempt: 1, mayRepeat: false, step: { state: 'ready', attempts: 0 } });
    await record(ledger, claim, { ...done, kind: 'interrupted' }, at);
    const again = await losing('claim step', () => claimStep(ledger, run, 'batch 0', 2));
    expect(again).toMatchObject({ attempt: 2, mayRepeat: true, step: { attempts: 1 } });
    expect((await ledger.runs.get('r1')).counts.repeated).toBe(4);
    await claimStep(opened.ledger, run, 'batch 1');
    expect(
      await losing('claim step', () => ledger.steps.claim(rightOf(run), 'batch 1', 1, at)),
    ).toBeUndefined();
  });

  /** An accepted batch is one prepared statement, identified by its name; other endings are transactions. */
  const acceptedBatch = 'record accepted batch';

  it.each([
    [acceptedBatch, done],
    ...[refused, failed, halved, retry(), fatal, interrupted].map((ending) => ['COMMIT', ending] as const),
  ] as const)(
    'an ending is recorded once, with the same result as if the answer had arrived (%s, %#)',
    async (text, ending) => {
      const smooth = await collectedRun(ledger, 'smooth', { day: '2026-11-01' });
      const first = await claimStep(ledger, smooth, 'batch 0');
      const expected = await record(ledger, first, ending, at);

      const run = await collectedRun(ledger, 'r1');
      const claim = await claimStep(ledger, run, 'batch 0');
      const recorded = await losing(text, () => record(ledger, claim, ending, at));
      // A run that failed names itself and its day.
      const named = JSON.stringify(expected).replaceAll('smooth', 'r1').replaceAll('2026-11-01', day);
      expect(recorded).toEqual(JSON.parse(named));
      expect(await opened.ledger.steps.listAttempts('r1', 'batch 0')).toHaveLength(1);
      const { run: counted, tally } = await look(opened.ledger, 'r1');
      expect(counted.counts).toMatchObject({ delivered: tally.delivered, refused: tally.refused });
      expect(counted.openSteps).toBe(tally.openSteps);
    },
  );

  it('a run is settled once, and reported as settled', async () => {
    const run = await collectedRun(ledger, 'r1');
    expect(await losing('COMMIT', () => ledger.runs.settle(rightOf(run), { state: 'succeeded', at }))).toBe(
      true,
    );
    expect(await ledger.runs.settle(rightOf(run), { state: 'failed', at })).toBe(false);
    expect((await opened.ledger.runs.get('r1')).state).toBe('succeeded');
  });

  it('a day is held, and released', async () => {
    const hold = await losing('INSERT INTO hotel_review.holds', () => ledger.holds.day(day));
    expect(hold).toBeDefined();
    expect(await opened.ledger.holds.day(day)).toBeUndefined();
    await losing('DELETE FROM hotel_review.holds', async () => hold?.release());
    expect(await opened.ledger.holds.day(day)).toBeDefined();
  });

  it('a run is taken over, and abandoned steps are reopened once', async () => {
    const run = await collectedRun(ledger, 'r1');
    await claimStep(ledger, run, 'batch 0');
    const owner = await losing('COMMIT', () => ledger.runs.takeOver('r1'));
    expect(owner).toEqual(await opened.ledger.runs.get('r1'));
    await claimStep(ledger, owner, 'batch 0', 2);
    await opened.query(`UPDATE hotel_review.steps SET lease_until = now() - interval '1 second'`);
    await losing('COMMIT', () => ledger.steps.reopenAbandoned('r1'));
    expect(await ledger.steps.listAttempts('r1', 'batch 0')).toHaveLength(2);
    await losing('COMMIT', () => ledger.runs.rememberHook({ id: 'q', runId: 'r1', at }));
    expect(await opened.ledger.runs.findOfHook('q')).toBe('r1');
  });

  it('a sync starts once, restarts once, and stores each of its pages once', async () => {
    const { mappings } = ledger;
    await mappings.beginSync(newSync('given up'));
    const begun = await losing('COMMIT', () => mappings.beginSync(newSync('s1')));
    expect(begun).toMatchObject({ syncId: 's1', counts: { pages: 0 } });
    const first = pageOf('s1', [rowOf('1', 10), rowOf('1', 20)], { resumeKey: 'k1' });
    const stored = await losing('COMMIT', () => mappings.storePage(first));
    expect(stored).toMatchObject({ resumeKey: 'k1', counts: { pages: 1, read: 2, moved: 1 } });
    const restarted = await losing('COMMIT', () => mappings.restartSync(stored));
    expect(restarted).toMatchObject({ counts: { pages: 1, restarts: 1 } });
    await losing('COMMIT', () => mappings.storePage(first));
    const last = pageOf('s1', [rowOf('1', 20, { isDeleted: true })], { after: 'k1' });
    const ended = await losing('COMMIT', () => mappings.storePage(last));
    expect(ended).toMatchObject({ endedAt: last.at, counts: { pages: 3, read: 5, moved: 3, deleted: 1 } });
    expect(await opened.ledger.mappings.latestSync('')).toEqual(ended);
    expect((await opened.ledger.mappings.find(rowOf('1', 10)))?.moves).toHaveLength(4);
  });

  it('a page that never reached the server is still stored', async () => {
    const { mappings } = ledger;
    await mappings.beginSync(newSync('s1'));
    const before = cutter.cuts;
    const texts = ['COMMIT', 'COPY', 'look up mappings', 'pg_advisory_xact_lock'];
    for (const [number, text] of texts.entries()) {
      cutter.cutRequest(text);
      await mappings.storePage({
        ...pageOf('s1', [rowOf(`${number}`, number + 1)], { resumeKey: `k${number}` }),
        ...(number > 0 && { after: `k${number - 1}` }),
      });
    }
    expect(cutter.cuts).toBe(before + texts.length);
    expect((await opened.ledger.mappings.latestSync(''))?.counts).toMatchObject({
      pages: 4,
      read: 4,
      added: 4,
    });
    expect((await listAll(opened.ledger.mappings)).map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  });
});
