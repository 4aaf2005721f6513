import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { createGate } from '../../base/concurrent-work.js';
import { createPatience } from '../../base/peer-patience.js';
import { LedgerAwayError, LedgerRefusedError, LedgerUnusableError } from '../errors.js';
import { type StoredRow, sql } from '../query.js';
import {
  createSession,
  lockTimeout,
  persist,
  type Session,
  TemporaryFault,
  toAway,
  translateFault,
} from './session.js';

/** The address for display: host, port and database, without user, password and parameters. */
export function locationOf(url: string): string {
  const shown = parse(url);
  // Some addresses name their host there.
  const socket = shown.searchParams.get('host');
  shown.username = '';
  shown.password = '';
  shown.search = socket === null ? '' : `?${new URLSearchParams({ host: socket })}`;
  shown.hash = '';
  const isTcp = shown.hostname !== '' && !shown.hostname.startsWith('%2F') && socket === null;
  if (isTcp && shown.port === '') shown.port = '5432';
  return shown.href;
}

function parse(url: string): URL {
  // No cause: the parser's error contains the whole text.
  if (!URL.canParse(url)) {
    throw new LedgerUnusableError(
      'postgres://…',
      'expected an address such as postgres://user:password@host:5432/database, got: one that cannot be read; write characters such as @ and / in a password as %40 and %2F',
    );
  }
  return new URL(url);
}

/** Counts, sums and `bigint` would come as texts: no number of the ledger is too large. */
const largeNumbers: readonly number[] = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];
const getTypeParser: typeof pg.types.getTypeParser = (type: number, format?: 'text' | 'binary') =>
  largeNumbers.includes(type) ? Number : pg.types.getTypeParser(type, format);

/** Time limit for one statement; the driver gives up a little later if there is no answer at all. */
const statementTimeoutMs = 60_000;
/** A process frozen in mid-transaction holds its locks for this long; others must not give up sooner. */
const idleTransactionTimeoutMs = 10_000;
const lockTimeoutMs = 15_000;
const connectTimeoutMs = 5_000;
const closeTimeoutMs = 2_000;

interface SessionLimits {
  /** After this time a try counts as a lost connection. */
  readonly timeoutMs?: number;
  /** It does not wait for a connection that other work has. */
  readonly isUrgent?: boolean;
  /** Ends the waiting for a connection. */
  readonly signal?: AbortSignal;
}

/** A pool of connections to one database. */
export type Database = ReturnType<typeof openDatabase>;

export interface DatabaseOptions {
  /** postgres://user:password@host:port/database, with the parameters that libpq knows, such as sslmode. */
  readonly url: string;
  /** Maximum number of connections, at least 2: one is kept for what must not wait, such as renewals of leases. */
  readonly connections?: number;
  /** The process, as attempts and the server's connections name it: see `nameProcess`. */
  readonly worker?: string | undefined;
  /** How long each call waits for an unavailable server. */
  readonly patienceMs?: number;
  /** Monotonic, in milliseconds. */
  readonly now?: () => number;
  /** Called when a server that could be used refuses us, before that is tried again. */
  readonly onRefused?: (error: LedgerRefusedError) => void;
}

/**
 * A pool of connections to PostgreSQL: the only place that connects. Temporary faults, from a restart of the server to a
 * deadlock, are retried here; so is a refusal of a server that could be used before, for longer. Then every call throws LedgerAwayError.
 *
 * @param prepare runs in a transaction before anything else, until it has succeeded once
 */
export function openDatabase(
  {
    url,
    connections = 5,
    worker,
    patienceMs = 30_000,
    now = () => performance.now(),
    onRefused = () => {},
  }: DatabaseOptions,
  prepare?: (session: Session, location: string) => Promise<void>,
) {
  const location = locationOf(url);
  let isRefused = false;
  const pool = new pg.Pool({
    connectionString: url,
    types: { getTypeParser },
    max: connections,
    application_name: worker === undefined ? 'hotel-review' : `hotel-review ${worker}`,
    // Compiling a query takes longer than any of ours.
    options: '-c jit=off',
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + connectTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: connectTimeoutMs,
    allowExitOnIdle: true,
  });
  // The next use of a lost connection reports it. Without these listeners the event would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    isRefused = false;
  });

  let isClosed = false;
  // What only reads does its work at once, and then ends.
  const patience = prepare && createPatience(now);
  let prepared: Promise<void> | undefined;

  // The pool itself would give up after `connectTimeoutMs`: work waits for a connection as long as others need theirs.
  const gates = { urgent: createGate(1), usual: createGate(connections - 1) };

  async function connect(): Promise<pg.PoolClient> {
    if (isClosed) throw new Error(`the ledger ${location} is closed`);
    try {
      return await pool.connect();
    } catch (error) {
      throw translateFault(error, location);
    }
  }

  async function withSession<Result>(
    work: (session: Session) => Promise<Result>,
    { isUrgent = false, timeoutMs, signal }: SessionLimits = {},
  ): Promise<Result> {
    let leave = () => {};
    try {
      await new Promise<void>((enter, giveUp) => {
        leave = gates[isUrgent ? 'urgent' : 'usual'].enter(enter);
        signal?.addEventListener('abort', () => giveUp(new TemporaryFault('too-late', false)), {
          once: true,
        });
      });
      return await useConnection(work, timeoutMs);
    } finally {
      leave();
    }
  }

  async function useConnection<Result>(
    work: (session: Session) => Promise<Result>,
    timeoutMs: number | undefined,
  ): Promise<Result> {
    const client = await connect();
    let isBroken = true;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => cut(client), timeoutMs);
    try {
      const result = await work(createSession(client, location));
      isBroken = false;
      patience?.noteSuccess();
      return result;
    } catch (error) {
      isBroken = error instanceof TemporaryFault && error.endsConnection;
      throw error;
    } finally {
      clearTimeout(timer);
      client.release(isBroken);
      // Cut it at once: on a dead connection an orderly end would never finish.
      if (isBroken) cut(client);
    }
  }

  async function inTransaction<Result>(
    begin: string,
    work: (session: Session) => Promise<Result>,
    onCommit: (begun: StoredRow | undefined, result: Result) => void = () => {},
    limits: SessionLimits = {},
  ): Promise<Result> {
    return withSession(async (session) => {
      const begun = await session.script(begin);
      let result: Result;
      try {
        result = await work(session);
      } catch (error) {
        if (!(error instanceof TemporaryFault && error.endsConnection)) await session.run(sql`ROLLBACK`);
        throw error;
      }
      onCommit(begun, result);
      await session.run(sql`COMMIT`);
      return result;
    }, limits);
  }

  function noteRefusal(error: LedgerRefusedError): void {
    if (!isRefused) onRefused(error);
    isRefused = true;
  }

  function persistPrepared<Result>(
    work: () => Promise<Result>,
    withinMs?: number,
    limits?: SessionLimits,
  ): Promise<Result> {
    const how = {
      ...{ location, now, isOver: () => isClosed, onRefused: noteRefusal },
      patienceMs: withinMs ?? patienceMs,
      patience: withinMs === undefined ? patience : undefined,
    };
    return persist(how, async () => {
      if (prepare) prepared ??= inTransaction('BEGIN', (session) => prepare(session, location));
      try {
        await prepared;
      } catch (error) {
        prepared = undefined;
        throw error;
      }
      try {
        return await work();
      } catch (error) {
        if (error instanceof TemporaryFault && error.code === lockTimeout) await endFrozenCopies(limits);
        throw error;
      }
    });
  }

  /** Whether the transaction with that number was committed. A server that took over without it may not know the number. */
  async function isCommitted(id: string, limits: SessionLimits): Promise<boolean> {
    const found = await withSession(
      (session) =>
        session.row(
          sql`SELECT CASE WHEN ${id}::bigint < txid_snapshot_xmax(txid_current_snapshot())
           THEN txid_status(${id}::bigint) END AS status`,
        ),
      limits,
    );
    // The server has not noticed that its client is gone, or is still at it.
    if (found?.status === 'in progress') throw new TemporaryFault('in-progress', false);
    return found?.status === 'committed';
  }

  /**
   * PostgreSQL applies no time limit while it waits for the rows of a COPY: a process that was frozen at that moment would
   * keep its locks until it thaws.
   */
  async function endFrozenCopies(limits?: SessionLimits): Promise<void> {
    await withSession(
      (session) =>
        session.run(
          sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND usename = current_user AND query LIKE 'COPY hotel_review.%'
           AND state = 'active' AND wait_event = 'ClientRead'
           AND query_start < now() - ${idleTransactionTimeoutMs} * interval '1 millisecond'`,
        ),
      limits,
    );
  }

  return {
    /** Its address, without a password. */
    location,

    /**
     * Does work of one statement, or of several that need no transaction.
     *
     * @param work is repeated when the connection is lost; `mayBeDone` if an earlier try may have been done: its connection was lost before
     *   the answer arrived
     * @param limits also how long to retry, in place of the usual patience
     */
    perform<Result>(
      work: (session: Session, mayBeDone: boolean) => Promise<Result>,
      { patienceMs: withinMs, ...limits }: SessionLimits & { readonly patienceMs?: number } = {},
    ): Promise<Result> {
      let mayBeDone = false;
      return persistPrepared(
        () =>
          withSession(async (session) => {
            const isAgain = mayBeDone;
            mayBeDone = true;
            return work(session, isAgain);
          }, limits),
        withinMs,
        limits,
      );
    },

    /** Does work in one transaction: all of it or nothing, and once, even if the answer to its commit is lost. */
    transact<Result>(
      work: (session: Session) => Promise<Result>,
      limits: SessionLimits = {},
    ): Promise<Result> {
      let tried: { readonly id: string; readonly result: Result } | undefined;
      return persistPrepared(
        async () => {
          if (tried && (await isCommitted(tried.id, limits))) return tried.result;
          // Its number comes with the same answer: a round trip of its own would cost as much as a statement.
          const onCommit = (begun: StoredRow | undefined, result: Result) => {
            tried = { id: String(begun?.id), result };
          };
          return inTransaction('BEGIN; SELECT txid_current() AS id', work, onCommit, limits);
        },
        undefined,
        limits,
      );
    },

    /** Reads in one snapshot. */
    snapshot: <Result>(work: (session: Session) => Promise<Result>) =>
      persistPrepared(() => inTransaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work)),

    /** Asks once; fails if the server does not answer in time. */
    async ping(
      timeoutMs: number,
      ask: (session: Session) => Promise<unknown> = (session) => session.run(sql`SELECT 1`),
    ): Promise<void> {
      const ended = new AbortController();
      const tooLate = pause(timeoutMs, undefined, { signal: ended.signal }).then(() => {
        throw new LedgerAwayError(location);
      });
      const answer = withSession(ask, { timeoutMs, isUrgent: true, signal: ended.signal }).catch((error) => {
        if (error instanceof TemporaryFault) throw toAway(location, error);
        if (error instanceof LedgerRefusedError && patience && patience.judge(error.fault) !== 'refuse')
          throw new LedgerAwayError(location, { fault: error.fault, reason: error.reason, cause: error });
        throw error;
      });
      try {
        await Promise.race([answer, tooLate]);
      } finally {
        ended.abort();
        // Nobody listens to whichever of the two settles later.
        answer.catch(() => undefined);
        tooLate.catch(() => undefined);
      }
    },

    async close(): Promise<void> {
      if (isClosed) return;
      isClosed = true;
      const ended = new AbortController();
      await Promise.race([
        pool.end(),
        // On a dead connection an orderly end would never finish.
        pause(closeTimeoutMs, undefined, { signal: ended.signal, ref: false }).catch(() => undefined),
      ]);
      ended.abort();
    },
  };
}

function cut(client: pg.PoolClient): void {
  if (!('connection' in client)) return;
  const { stream } = client.connection as { readonly stream: { destroy(): void } };
  stream.destroy();
}
