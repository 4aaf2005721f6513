import { blankNames } from '../../src/review/stored/stored-line.js';
import { day, type Folder, type Stage } from './stage.js';

/** What happens to a day after its review: lookup, blanking of names, removal. */
export interface Aged {
  readonly bookings: number;
  /** Looking up one booking by its reference in the open ledger. */
  readonly showMs: number;
  readonly blankSeconds: number;
  readonly pruneSeconds: number;
  readonly bytes: { readonly asSent: number; readonly blanked: number; readonly pruned: number };
  /** WAL bytes of blanking and removal. */
  readonly walBytes: number;
}

const farAhead = '2999-01-01';
const looks = 20;

/** Ages the day at once by using dates in the far future. */
export async function growOld(stage: Stage, folder: Folder, bookings: number): Promise<Aged> {
  const ledger = folder.openLedger();
  try {
    const run = await ledger.latestRun(day);
    if (!run) throw new Error(`expected a run of ${day}, got: none`);
    const lines = (await ledger.readBatch(run.id, 'body', 0)).toString().split('\n').slice(0, looks);
    const references = lines.map((line) => String(JSON.parse(line).BookingReferenceId));
    const looked = await secondsOf(async () => {
      for (const reference of references) await ledger.trace(reference);
    });
    const asSent = await folder.ledgerBytes();
    const walBefore = await walOf(stage, folder);
    const blankSeconds = await secondsOf(() => ledger.blankGuestNames(farAhead, blankNames));
    await vacuum(stage, folder);
    const blanked = await folder.ledgerBytes();
    const pruneSeconds = await secondsOf(() => ledger.prune(farAhead));
    await vacuum(stage, folder);
    return {
      bookings,
      showMs: (1000 * looked) / references.length,
      blankSeconds,
      pruneSeconds,
      bytes: { asSent, blanked, pruned: await folder.ledgerBytes() },
      walBytes: (await walOf(stage, folder)) - walBefore,
    };
  } finally {
    await ledger.close();
  }
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** What autovacuum would do later. */
async function vacuum(stage: Stage, { engine, ledgerPlace }: Folder): Promise<void> {
  if (engine === 'many machines') await stage.postgres.query(ledgerPlace, 'VACUUM');
}

async function walOf(stage: Stage, { engine, ledgerPlace }: Folder): Promise<number> {
  if (engine === 'one machine') return 0;
  const [row] = await stage.postgres.query(ledgerPlace, `SELECT pg_current_wal_lsn() - '0/0' AS bytes`);
  return Number(row?.bytes);
}
