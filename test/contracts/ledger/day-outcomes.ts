import { describe, expect, it } from 'vitest';
import type { SourceRecord } from '../../../src/booking/source.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { readDayOutcome, storeDayOutcome } from '../../../src/review/outcome/read-outcome.js';
import type { JudgedRows } from '../../../src/rules/review-file.js';
import type { DeliveryKind, Run } from '../../../src/rules/run.js';
import { collectRun, day, deliverRun, storedReferences, whole, wholes } from '../../review/late-days.js';
import type { OpenedLedger } from '../ledger.js';
import { at, batchSize, done, perform } from './days.js';

const { iso } = day;

interface Sending {
  readonly kind?: DeliveryKind;
  readonly topsUp?: boolean;
  /** References that its result calls incorrect; without them it has no result yet. */
  readonly incorrect?: readonly string[];
}

/** Collects and sends a day, and stores what it came to. */
async function send(
  ledger: Ledger,
  id: string,
  records: readonly SourceRecord[],
  { kind = 'file', topsUp = false, incorrect }: Sending = {},
): Promise<Run> {
  const run = await collectRun({ ledger, kind, batchSize }, id, records, { topsUp });
  if (kind === 'file' && run.counts.accepted > 0) {
    const references = await storedReferences(ledger, id, 'file');
    await perform(ledger, run, 'write', { ...done, file: { rows: references.length } });
    await perform(ledger, run, 'upload', done);
    await perform(ledger, run, 'trigger', { ...done, file: { triggeredAt: at } });
    if (incorrect) await judge(ledger, run, references, incorrect);
  }
  if (kind === 'body' || incorrect) await deliverRun(ledger, run);
  await storeDayOutcome(ledger, iso);
  return ledger.runs.get(id);
}

async function judge(
  ledger: Ledger,
  run: Run,
  references: readonly string[],
  incorrect: readonly string[],
): Promise<void> {
  const positions = references.flatMap((reference, index) => (incorrect.includes(reference) ? [index] : []));
  const verdicts = positions.map(
    (position): JudgedRows => ({
      batch: Math.floor(position / batchSize),
      judged: 'incorrect',
      rows: [position % batchSize],
    }),
  );
  const byBatch = new Map<number, number[]>();
  for (const { batch, rows } of verdicts) byBatch.set(batch, [...(byBatch.get(batch) ?? []), ...rows]);
  await perform(ledger, run, 'await-result', {
    ...done,
    file: {
      verdicts: {
        affected: positions.length,
        unanswered: 0,
        unclear: 0,
        malformed: 0,
        listsUnanswered: true,
      },
    },
    verdicts: [...byBatch].map(([batch, rows]) => ({ batch, judged: 'incorrect', rows })),
  });
}

const affectedDay = wholes(1, 4);
export function describeDayOutcomes(opened: () => OpenedLedger): void {
  describe('what a day came to', () => {
    it('stays as it was once its bookings are removed', async () => {
      const { ledger } = opened();
      await send(ledger, 'r1', affectedDay, { incorrect: ['BR-2', 'BR-3'] });
      await send(ledger, 'r2', wholes(1, 5), { topsUp: true, incorrect: ['BR-3'] });
      const { sent: _, ...before } = await readDayOutcome(ledger, iso);
      await ledger.guests.blankNames('2027-01-01', (lines) => lines);
      expect(await readDayOutcome(ledger, iso)).toMatchObject({ accepted: 5, affected: 1 });
      await ledger.guests.prune('2027-01-01');
      await storeDayOutcome(ledger, iso);
      const { sent, ...after } = await readDayOutcome(ledger, iso);
      expect({ ...after, runs: [], run: undefined, latest: undefined }).toEqual({
        ...{ ...before, runs: [], run: undefined, latest: undefined },
      });
      expect(sent).toHaveLength(1);
    });

    it('is unknown where the only result is about bookings that were replaced since', async () => {
      const { ledger } = opened();
      await send(ledger, 'r1', wholes(0, 3), { incorrect: [] });
      expect(await readDayOutcome(ledger, iso)).toMatchObject({ accepted: 3, affected: 0 });
      const replaced = [0, 1, 2].map((number) => whole(number, { ProviderHotelId: 'another' }));
      await send(ledger, 'r2', replaced, { topsUp: true });
      expect(await readDayOutcome(ledger, iso)).toMatchObject({ accepted: 3, affected: null });
    });

    it('is stored in one row, which says whether it is still current', async () => {
      const { ledger } = opened();
      await send(ledger, 'r1', affectedDay, { incorrect: ['BR-2'] });
      const read = async () => {
        const [outcome] = await ledger.days.listOutcomes({ from: iso, to: iso });
        return outcome?.stored?.mark === outcome?.mark;
      };
      expect(await read()).toBe(true);
      const late = await collectRun({ ledger, kind: 'file', batchSize }, 'r2', wholes(1, 5), {
        topsUp: true,
      });
      expect(await read()).toBe(false);
      await storeDayOutcome(ledger, iso);
      expect(await read()).toBe(true);
      await perform(ledger, late, 'write', { ...done, file: { rows: 5 } });
      expect(await read()).toBe(false);
      await storeDayOutcome(ledger, iso);
      await deliverRun(ledger, late);
      expect(await read()).toBe(false);
      const last = await collectRun({ ledger, kind: 'file', batchSize }, 'r3', wholes(1, 6), {
        topsUp: true,
      });
      for (const step of ['write', 'upload', 'trigger'])
        await perform(ledger, last, step, { ...done, file: { rows: 6, triggeredAt: at } });
      await storeDayOutcome(ledger, iso);
      await judge(ledger, last, await storedReferences(ledger, 'r3', 'file'), ['BR-3']);
      expect(await read()).toBe(false);
      await storeDayOutcome(ledger, iso);
      await ledger.runs.abandon('r3', { reason: 'over', at });
      expect(await read()).toBe(false);
      expect(await ledger.days.listOutcomes({ from: '2026-11-21', to: '2026-11-30' })).toEqual([]);
    });
  });
}
