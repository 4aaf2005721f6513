import { setTimeout as pause } from 'node:timers/promises';
import type { Patience } from '../../base/peer-patience.js';
import { needsOwnSession } from '../../base/pooler-words.js';
import { isTrustFault } from '../../transports/http/network-failure.js';
import { LedgerAwayError, LedgerFullError, LedgerRefusedError } from '../errors.js';

/** A temporary failure of the server or the network: the request may be repeated. */
export class TemporaryFault extends Error {
  override readonly name = 'TemporaryFault';
  constructor(
    /** SQLSTATE, the system's code, or the driver's substitute for one. */
    readonly code: string,
    /** False when the connection can still be used. */
    readonly endsConnection: boolean,
  ) {
    super(`the database did not answer as it should: ${code}`);
  }
}

/**
 * The database refused a statement. The message says only which rule was broken: the server's own message, its detail
 * and the statement's values may name guests.
 */
export class StatementRefusedError extends Error {
  override readonly name = 'StatementRefusedError';
  constructor(
    readonly place: string,
    /** SQLSTATE */
    readonly code: string,
    readonly severity: string | undefined,
    readonly constraint: string | undefined,
  ) {
    super(
      `the ledger ${place} refused a statement: SQLSTATE ${code}${constraint === undefined ? '' : `, ${constraint}`}`,
    );
  }
}

const serializationFailures: readonly string[] = ['40001', '40P01'];
/** Another process held a lock for too long. */
export const lockTimeout = '55P03';
/** A lock or a statement timed out; the connection is still usable. */
const timeouts: readonly string[] = [lockTimeout, '57014'];
/** The server takes no writes. It may be a standby that is about to take over, so this counts as temporary at first. */
const readOnlyState = '25006';
/** The server shut down, crashed, is starting, takes no writes, or is out of connections, memory or the like. */
const passingStates = /^(08...|57P0[1-5]|25006|25P03|53...|58...)$/;

/** What to do about a server that takes no writes. */
const readOnlyServer =
  'its PostgreSQL is a standby or read-only: name the primary server in the setting ledger, or turn off default_transaction_read_only for the server, its database or its user';

/**
 * Translates a failure of the driver. Its message is dropped, because it and the error's properties quote values.
 */
export function translateFault(error: unknown, place: string): Error {
  const { code, severity, constraint, message } = readError(error);
  if (isSqlState(code)) {
    if (serializationFailures.includes(code) || timeouts.includes(code))
      return new TemporaryFault(code, false);
    if (code === '53100') return new LedgerFullError(place, { cause: new TemporaryFault(code, false) });
    if (needsOwnSession(code, message)) return new LedgerRefusedError(place, 'unsuited', sharedSession(code));
    if (passingStates.test(code)) return new TemporaryFault(code, true);
    const reason = explainState(code);
    return reason === undefined
      ? new StatementRefusedError(place, code, severity, constraint)
      : new LedgerRefusedError(place, code === '3D000' ? 'unsuited' : 'refused', reason);
  }
  if (isTrustFault(code)) {
    return new LedgerRefusedError(
      place,
      'refused',
      `the server's certificate is not trusted (${code}); fix it, or name the file of its authority in the address: …?sslrootcert=FILE`,
    );
  }
  if (message.includes('SSL connections') || message.includes('SSL connection')) {
    return new LedgerRefusedError(
      place,
      'unsuited',
      'the server does not support TLS, which sslmode requires; enable it there, or change sslmode in the setting ledger',
    );
  }
  if (message.startsWith('SASL')) {
    return new LedgerRefusedError(
      place,
      'refused',
      'the server requires a password, and there is no usable one; set it in the setting ledger',
    );
  }
  return new TemporaryFault(code ?? 'connection-lost', true);
}

function sharedSession(code: string): string {
  return `it is behind a pooler that shares sessions or refuses start-up parameters (${code}), and it needs session pooling: name the server itself in the setting ledger, or a pooler in session mode that lets options, statement_timeout, lock_timeout and idle_in_transaction_session_timeout pass`;
}

function explainState(code: string): string | undefined {
  if (code === '28000') {
    return 'the server refused the user, this host, or a connection without TLS; fix the user or sslmode in the setting ledger, or pg_hba.conf on the server';
  }
  if (code.startsWith('28')) {
    return 'the server refused the user or the password; fix them in the setting ledger';
  }
  switch (code) {
    case '3D000':
      return 'there is no database with that name; create it with createdb, or name another in the setting ledger';
    case '42501':
      return 'the user may not create or use the schema hotel_review; have the owner of the database run GRANT CREATE ON DATABASE, or CREATE SCHEMA hotel_review AUTHORIZATION with that user';
    default:
      return undefined;
  }
}

function isSqlState(code: string | undefined): code is string {
  // System codes, such as EPIPE, can have five letters, too.
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);
}

function readError(error: unknown) {
  const fields: Record<string, unknown> = error instanceof Error ? { ...error } : {};
  const text = (name: string) => (typeof fields[name] === 'string' ? String(fields[name]) : undefined);
  return {
    code: text('code'),
    severity: text('severity'),
    constraint: text('constraint'),
    message: error instanceof Error ? error.message : '',
  };
}

const firstPauseMs = 25;
const longestPauseMs = 1_000;
/** A server that refuses a login counts such tries, and may lock the account. */
const longestRefusedPauseMs = 15_000;

interface Persistence {
  readonly place: string;
  /** How long one call waits for a server that is away. */
  readonly patienceMs: number;
  /** What all calls together bear with. Absent if the call has no time for that. */
  readonly patience?: Patience | undefined;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  /** True once nobody waits for the result any more. */
  readonly isOver: () => boolean;
  readonly onRefused: (error: LedgerRefusedError) => void;
}

/**
 * Retries until the work is done or fails for good.
 *
 * @throws LedgerAwayError when the time is up; LedgerRefusedError at once if the server could never be used
 */
export async function persist<Result>(how: Persistence, work: () => Promise<Result>): Promise<Result> {
  const { place, patienceMs, patience, now, isOver, onRefused } = how;
  const deadline = now() + patienceMs;
  for (let tries = 0; ; tries += 1) {
    const doubledMs = firstPauseMs * 2 ** tries;
    try {
      return await work();
    } catch (error) {
      if (error instanceof LedgerRefusedError) {
        const { fault, reason } = error;
        const decision = patience?.judge(fault) ?? 'refuse';
        if (decision === 'refuse') throw error;
        if (decision === 'give-up' || isOver())
          throw new LedgerAwayError(place, { fault, reason, cause: error });
        onRefused(error);
        await pause(Math.min(doubledMs, longestRefusedPauseMs));
        continue;
      }
      if (!(error instanceof TemporaryFault)) throw error;
      const pauseMs = Math.min(doubledMs, longestPauseMs);
      if (isOver() || now() + pauseMs > deadline) throw toAway(place, error);
      await pause(pauseMs);
    }
  }
}

/** Nobody waits any longer for a fault that may pass. */
export function toAway(place: string, cause: TemporaryFault): LedgerAwayError {
  return cause.code === readOnlyState
    ? new LedgerAwayError(place, { fault: 'read-only', reason: readOnlyServer, cause })
    : new LedgerAwayError(place, { cause });
}

/** A server that takes no writes; it may be a standby that is about to take over. */
export function readOnlyFault(): TemporaryFault {
  return new TemporaryFault(readOnlyState, true);
}
