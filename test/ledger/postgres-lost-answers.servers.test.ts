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
import { postgresNeeds } from '../support/postgres.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { usePostgres } from '../support/use-servers.js';
import { type OpenedPostgresLedger, openPostgresLedger } from './opened-postgres.js';

describe('when the connection ends between a commit and its answer', () => {
  const postgres = usePostgres();
  let proxy: TcpProxy;
  let opened: OpenedPostgresLedger;
  /** Its connections go through the proxy. */
  let ledger: Ledger;

  beforeAll(async () => {
    if (postgresNeeds === undefined) proxy = await startTcpProxy(postgres().port);
  });
  afterAll(() => proxy?.stop());
  beforeEach(async () => {
    opened = await openPostgresLedger(postgres());
    ledger = opened.open({ url: postgres().overTcp(opened.url, { port: proxy.port }) });
  });
  afterEach(() => opened.cleanUp());

  let cuts = 0;
  /** The connection ends at the next request with that text: before it reaches the server, or before its answer arrives. */
  function cutAt(text: string, isProcessed: boolean): void {
    let isDue = false;
    proxy.beforePassing((to, chunk) => {
      const isFound = to === 'server' && chunk.includes(text);
      if (isFound && isProcessed) isDue = true;
      else if (isFound || (isDue && to === 'client')) {
        cuts += 1;
        proxy.heal();
        proxy.cutAll();
        // The chunk never arrives.
        return new Promise(() => {});
      }
      return undefined;
    });
  }

  /** Runs the work while the answer to its first commit is lost. */
  async function losing<Result>(text: string, work: () => Promise<Result>): Promise<Result> {
    const before = cuts;
    cutAt(text, true);
    const result = await work();
    expect(cuts, 'connections cut').toBe(before + 1);
    return result;
  }

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
    const before = cuts;
    for (const [number, text] of ['COMMIT', 'COPY', 'FOR NO KEY UPDATE'].entries()) {
      cutAt(text, false);
      await collect.store(chunkOf({ batches: [batchOf(number, ['a', 'b', 'c', 'd'])] }));
    }
    expect(cuts).toBe(before + 3);
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

  it('a day is held, and released', async () => {
    const hold = await losing('INSERT INTO hotel_review.holds', () => ledger.holds.day(day));
    expect(hold).toBeDefined();
    expect(await opened.ledger.holds.day(day)).toBeUndefined();
    await losing('DELETE FROM hotel_review.holds', async () => hold?.release());
    expect(await opened.ledger.holds.day(day)).toBeDefined();
  });
});
