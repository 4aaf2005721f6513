import { createBusinessDay } from '../../src/booking/business-day.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createBodyDelivery } from '../../src/review/body/body-delivery.js';
import { type CollectParts, collectDay } from '../../src/review/collect/collect.js';
import type { ReviewEvent } from '../../src/review/events.js';
import { readReference } from '../../src/review/stored/stored-line.js';
import type { CollectLimits } from '../../src/rules/gates.js';
import type { Run } from '../../src/rules/run.js';
import type { Right } from '../../src/rules/step.js';
import { withReplaced } from '../support/fake-ledger.js';
import { createArraySource, readerOf, type Script } from './array-source.js';
import { openRun, openTemporaryLedger } from './temporary-ledger.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
export const now = Date.parse('2026-11-21T02:30:00Z');
export const lenient: CollectLimits = { maxRejectedShare: 1, emptyDay: 'succeed', batchSize: 500 };

/** A run of a day in its own ledger, and the collect that fills it. */
export async function prepareCollect() {
  const ledger = await openTemporaryLedger();
  const right = await openRun(ledger, day.iso);
  const events: ReviewEvent[] = [];
  const service = { reviewBookedHotels: () => Promise.reject(new Error('nothing is sent while collecting')) };

  /** @param changes of the run */
  async function collect(
    script: Script,
    parts: Partial<CollectParts> = {},
    signal = new AbortController().signal,
    changes: Partial<Run> = {},
  ) {
    const run = await ledger.runs.get(right.runId);
    const limits = parts.limits ?? lenient;
    const { batchSize } = limits;
    return collectDay(
      day,
      { ...run, ...changes },
      {
        reader: readerOf(createArraySource(script)),
        delivery: createBodyDelivery({ service, masterIdName: 'ServiceId', batchSize }),
        ledger,
        limits,
        clock: () => now,
        notify: (event) => events.push(event),
        ...parts,
      },
      signal,
    );
  }

  return { ledger, right, events, collect };
}

/** The same ledger; calls `look` after every stored chunk, before the collect continues. */
export function afterEachStore(ledger: Ledger, look: () => Promise<void>): Ledger {
  return withReplaced(ledger, {
    bookings: {
      async beginCollect(right, start) {
        const collect = await ledger.bookings.beginCollect(right, start);
        return {
          ...collect,
          async store(chunk) {
            await collect.store(chunk);
            await look();
          },
        };
      },
    },
  });
}

/** The references of a stored batch, in order. */
export async function readReferences(ledger: Ledger, { runId }: Right, batch: number): Promise<unknown[]> {
  const lines = (await ledger.bookings.readBatch(runId, 'posted', batch)).toString().split('\n').slice(0, -1);
  return lines.map(readReference);
}
