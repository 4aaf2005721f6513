import type { Config } from '../src/config/load.js';
import { fileExists } from '../src/ledger/sqlite/ledger-place.js';
import {
  createSqliteLedger,
  createSqliteReader,
  type SqliteLedgerOptions,
} from '../src/ledger/sqlite/sqlite-ledger.js';
import type { NoticeLedger, ReadOnlyNoticeLedger } from '../src/notifications/notice-store.js';
import type { BookingForm } from '../src/review/step.js';
import { readReference } from '../src/review/stored/stored-line.js';
import { clock } from './clock.js';
import { openKeys } from './key-folder.js';

/** Connections besides one per concurrent step: for renewing claims, reconciling and watching. */
const spareConnections = 4;

/** Opens the configured ledger. A database's client is loaded only if needed. */
export async function openLedger(config: Config): Promise<NoticeLedger> {
  const { ledger, workers, body } = config;
  const leaseMs = workers.leaseSeconds * 1000;
  const keys = openKeys(config);
  switch (ledger.kind) {
    case 'sqlite':
      return openSqlite(ledger.path, { leaseMs, keys });
    case 'postgres': {
      const { createPostgresLedger } = await import('../src/ledger/postgres/postgres-ledger.js');
      const connections = body.concurrency + spareConnections;
      return createPostgresLedger({
        url: ledger.url,
        carriesReference,
        clock,
        leaseMs,
        connections,
        keys,
      });
    }
  }
}

export function openSqlite(
  path: string,
  options: Pick<SqliteLedgerOptions, 'leaseMs' | 'keys'> = {},
): NoticeLedger {
  return createSqliteLedger({ path, carriesReference, clock, ...options });
}

function carriesReference(line: string, form: BookingForm, reference: string): boolean {
  return readReference(line, form) === reference;
}

/**
 * Opens the ledger for reading; undefined if there is none. Creates nothing.
 *
 * @param waits false to fail at once when its server doesn't answer
 * @param mustTakeWrites true to fail where a run could not write, as on a standby
 */
export async function findLedger(
  config: Config,
  { waits = true, mustTakeWrites = false } = {},
): Promise<ReadOnlyNoticeLedger | undefined> {
  const { ledger } = config;
  const keys = openKeys(config);
  switch (ledger.kind) {
    case 'sqlite':
      return fileExists(ledger.path)
        ? createSqliteReader({ path: ledger.path, carriesReference, clock, keys })
        : undefined;
    case 'postgres': {
      const { findPostgresLedger } = await import('../src/ledger/postgres/postgres-ledger.js');
      return findPostgresLedger({ url: ledger.url, carriesReference, waits, mustTakeWrites, keys });
    }
  }
}

/** Its path or address, without a password. */
export async function showLedgerPlace({ ledger }: Config): Promise<string> {
  switch (ledger.kind) {
    case 'sqlite':
      return ledger.path;
    case 'postgres':
      return (await import('../src/ledger/postgres/database.js')).placeOf(ledger.url);
  }
}

/**
 * Opens the ledger for reading while `look` runs.
 *
 * @param whenNone gets a message that says where no ledger was found
 */
export async function withReadOnlyLedger<Answer>(
  config: Config,
  whenNone: (notice: string) => Answer,
  look: (ledger: ReadOnlyNoticeLedger) => Promise<Answer>,
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

/** Looks for something in the ledger; finds nothing if it can't be opened. */
export function lookInto<Found>(
  config: Config,
  look: (ledger: ReadOnlyNoticeLedger) => Promise<readonly Found[]>,
): () => Promise<readonly Found[]> {
  return async () => {
    const found = await findLedger(config, { waits: false }).catch(() => undefined);
    if (!found) return [];
    try {
      return await look(found);
    } finally {
      await found.close();
    }
  };
}
