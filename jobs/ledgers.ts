import type { Config } from '../src/config/load.js';
import { isFileThere } from '../src/ledger/sqlite/ledger-place.js';
import { createSqliteLedger } from '../src/ledger/sqlite/sqlite-ledger.js';
import type { Ledger } from '../src/review/ledger.js';
import type { BookingForm } from '../src/review/step.js';
import { readReference } from '../src/review/stored/stored-line.js';
import { clock } from './clock.js';

/** Connections beside those of the steps in hand: for renewing, reconciling and looking on. */
const sparedConnections = 4;

/** The ledger that the configuration names. A database's client is loaded only where it is asked for. */
export async function openLedger(config: Config, { isOnlooker = false } = {}): Promise<Ledger> {
  const { ledger, workers, body } = config;
  const leaseMs = workers.leaseSeconds * 1000;
  switch (ledger.kind) {
    case 'sqlite':
      return openSqlite(ledger.path, { isOnlooker, leaseMs });
    case 'postgres': {
      const { createPostgresLedger } = await import('../src/ledger/postgres/postgres-ledger.js');
      return createPostgresLedger({
        url: ledger.url,
        carriesReference,
        clock,
        leaseMs,
        isOnlooker,
        connections: body.concurrency + sparedConnections,
      });
    }
  }
}

export function openSqlite(
  path: string,
  options: { readonly isOnlooker?: boolean; readonly leaseMs?: number } = {},
): Ledger {
  return createSqliteLedger({ path, carriesReference, clock, ...options });
}

function carriesReference(line: string, form: BookingForm, reference: string): boolean {
  return readReference(line, form) === reference;
}

/** Opens the ledger to look on; undefined where there is no file of it yet, and none is made. */
export async function findLedger(config: Config): Promise<Ledger | undefined> {
  const { ledger } = config;
  return ledger.kind === 'sqlite' && !isFileThere(ledger.path)
    ? undefined
    : openLedger(config, { isOnlooker: true });
}

/**
 * Opens the ledger, to look on, for as long as `look` takes.
 *
 * @param whenNone is told, in words for a person, where a ledger was looked for
 */
export async function lookIntoLedger<Answer>(
  config: Config,
  whenNone: (notice: string) => Answer,
  look: (ledger: Ledger) => Promise<Answer>,
): Promise<Answer> {
  const ledger = await findLedger(config);
  if (!ledger)
    return whenNone(`There is no ledger${'path' in config.ledger ? ` at ${config.ledger.path}` : ''} yet.`);
  try {
    return await look(ledger);
  } finally {
    await ledger.close();
  }
}
