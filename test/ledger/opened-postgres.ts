import {
  createPostgresLedger,
  findPostgresLedger,
  type PostgresLedgerOptions,
} from '../../src/ledger/postgres/postgres-ledger.js';
import type { NoticeLedger, ReadOnlyNoticeLedger } from '../../src/notifications/notice-store.js';
import { at, carriesReference } from '../contracts/ledger/days.js';
import type { OpenedLedger, StepRow } from '../contracts/ledger.js';
import type { Postgres } from '../support/postgres.js';

export interface OpenedPostgresLedger extends OpenedLedger {
  readonly url: string;
  /** Another ledger on the same database, with its own settings. */
  open(options?: Partial<PostgresLedgerOptions>): NoticeLedger;
  /** The same ledger for reading, as `findPostgresLedger` finds it. */
  find(options?: { readonly waits: boolean }): Promise<ReadOnlyNoticeLedger | undefined>;
  /** Runs statements directly, bypassing the ledger. */
  query(sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]>;
}

/** A ledger in a new database. */
export async function openPostgresLedger(
  postgres: Postgres,
  options: Partial<PostgresLedgerOptions> = {},
): Promise<OpenedPostgresLedger> {
  const url = await postgres.createDatabase();
  const ledgers: Pick<NoticeLedger, 'close'>[] = [];
  const open = (changes: Partial<PostgresLedgerOptions> = {}) => {
    const ledger = createPostgresLedger({ url, carriesReference, clock: () => at, ...options, ...changes });
    ledgers.push(ledger);
    return ledger;
  };
  return {
    url,
    ledger: open(),
    open,
    async find(options) {
      const reader = await findPostgresLedger({ url, carriesReference, ...options });
      if (reader) ledgers.push(reader);
      return reader;
    },
    query: (sql, ...values) => postgres.query(url, sql, values),
    reopen: async () => open(),
    async endLeases() {
      await postgres.query(
        url,
        `UPDATE hotel_review.steps SET lease_until = now() WHERE lease_until > now()`,
      );
    },
    readSteps: async (runId) =>
      (await postgres.query(
        url,
        'SELECT steps.* FROM hotel_review.steps JOIN hotel_review.runs ON run = number WHERE id = $1 ORDER BY position, name',
        [runId],
      )) as StepRow[],
    async cleanUp() {
      await Promise.all(ledgers.map((ledger) => ledger.close()));
      await postgres.giveBack(url);
    },
  };
}
