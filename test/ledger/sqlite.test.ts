import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { at, claimStep, collectedRun, done, lineOf, record, references } from '../contracts/ledger/days.js';
import { describeLedgerContract } from '../contracts/ledger.js';
import { type OpenedSqliteLedger, openSqliteLedger } from './opened-ledger.js';

describeLedgerContract('SQLite', { open: openSqliteLedger });

describe('the SQLite ledger', () => {
  let opened: OpenedSqliteLedger;
  beforeEach(async () => {
    opened = await openSqliteLedger();
  });
  afterEach(() => opened.cleanUp());

  it('distinguishes references whose hashes collide', async () => {
    const [one, other] = findCollision();
    const bookings = [...references(5), one, ...references(5, 'X'), other, one];
    await collectedRun(opened.ledger, 'r1', { bookings });
    const steps = async (reference: string) =>
      (await opened.ledger.bookings.trace(reference)).map((trace) =>
        trace.kind === 'booking' ? [trace.line, trace.step?.name] : trace,
      );
    expect(await steps(one)).toEqual([
      [lineOf(one), 'batch 1'],
      [lineOf(one), 'batch 3'],
    ]);
    expect(await steps(other)).toEqual([[lineOf(other), 'batch 2']]);
  });

  it('undoes alone the one of several writes of a turn that is refused, and answers once others can see them', async () => {
    const { ledger, reopen } = opened;
    const run = await collectedRun(ledger, 'r1');
    const [first, second] = [
      await claimStep(ledger, run, 'batch 0'),
      await claimStep(ledger, run, 'batch 1'),
    ];
    const other = await reopen();
    const outcomes = await Promise.allSettled(
      [first, first, second].map((claim) => record(ledger, claim, done, at)),
    );
    expect((await other.runs.get('r1')).counts.delivered).toBe(8);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

/** Two references with the same hash, found by a birthday search: 32-bit FNV-1a over UTF-16 units. */
function findCollision(): readonly [string, string] {
  const seen = new Map<number, string>();
  for (let index = 0; ; index += 1) {
    const reference = `BOOKING-${(index * 2_654_435_761) % 4_294_967_296}`;
    let hash = 0x811c9dc5;
    for (let at = 0; at < reference.length; at += 1) {
      hash = Math.imul(hash ^ reference.charCodeAt(at), 0x01000193);
    }
    const earlier = seen.get(hash);
    if (earlier !== undefined && earlier !== reference) return [earlier, reference];
    seen.set(hash, reference);
  }
}
