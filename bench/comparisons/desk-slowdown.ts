import { setTimeout as pause } from 'node:timers/promises';
import { postgresNeeds } from '../../test/support/postgres.js';
import type { Comparison, Measurement } from '../comparison.js';
import { listAddresses } from '../desk/page-addresses.js';
import { latencyMs, type ServedDesk, serveDesk } from '../desk/served-desk.js';
import { deskSizes } from '../desk/sizes.js';
import { prepareYears } from '../desk/years-ledger.js';
import { type DatabaseKind, databaseTitles } from '../ledger-place.js';

export interface DeskSlowdownOptions {
  readonly name: string;
  readonly database: DatabaseKind;
}

const everyMs = 1_000;

/** How much slower a run is while somebody loads pages of the process that performs it. */
export function createDeskSlowdownComparison({ name, database }: DeskSlowdownOptions): Comparison {
  return {
    name,
    work: `a run of 1,000,000 bookings on ${databaseTitles[database]} while pages are loaded once a second`,
    against: 'the same with nobody at the desk',
    unit: 's',
    reach: { ratio: { atMost: 1.1 } },
    rounds: 10,
    findObstacle: () => (database === 'postgres' ? postgresNeeds : undefined),
    async prepare(scale) {
      const { years: size, worked } = deskSizes[scale];
      const years = await prepareYears(database, size);
      const desk = await serveDesk(years, worked);
      const addresses = Object.values(listAddresses(years.today, size)).flat();
      // The first run of a process is slower than the others.
      await desk.replay();
      return {
        ours: { name: 'with a visitor', run: () => measureVisited(desk, addresses) },
        other: { name: 'without', run: () => measure(desk) },
        notes: [
          `By body in the process of \`serve\`, whose service takes ${latencyMs} ms, after 1,000 days; every page in turn.`,
        ],
        close: desk.close,
      };
    },
  };
}

async function measure(desk: ServedDesk): Promise<Measurement> {
  const { startedAt, finishedAt = startedAt } = await desk.replay();
  return { value: (finishedAt - startedAt) / 1_000 };
}

async function measureVisited(desk: ServedDesk, addresses: readonly string[]): Promise<Measurement> {
  const stopping = new AbortController();
  const visiting = visit(desk, addresses, stopping.signal);
  try {
    return await measure(desk);
  } finally {
    stopping.abort();
    await visiting;
  }
}

let next = 0;

/** Continues where the previous visit ended, so that all pages have their turn. */
async function visit(desk: ServedDesk, addresses: readonly string[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const [, loaded] = await Promise.allSettled([
      pause(everyMs, undefined, { signal }),
      desk.load(addresses[next++ % addresses.length] ?? '/'),
    ]);
    if (loaded.status === 'rejected') throw loaded.reason;
  }
}
