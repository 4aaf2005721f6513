import type { ChildProcess } from 'node:child_process';
import { on } from 'node:events';
import { SourceError, type SourceFault } from '../../review/source.js';
import { createDatabaseFault } from './database-fault.js';
import type { OpenRows, RowBatch, RowsRequest, SqlRows } from './rows.js';
import type { SqlitePlace } from './sqlite-rows.js';

/** What the process is told to do. */
export type SqliteOrder =
  | {
      readonly kind: 'open';
      readonly place: SqlitePlace;
      readonly request: Omit<RowsRequest, 'signal'>;
    }
  | { readonly kind: 'next' };

/** What it answers, once per order. */
export type SqliteAnswer =
  | { readonly kind: 'opened'; readonly columns: readonly string[] }
  | { readonly kind: 'rows'; readonly rows: RowBatch }
  /** Without the driver's words, which may quote cells. */
  | { readonly kind: 'failed'; readonly fault: SourceFault | undefined; readonly message: string };

/** Starts a process that calls `answerOrders`, with `serialization: 'advanced'`. */
export type StartSqliteProcess = () => ChildProcess;

/**
 * Opens the rows of a SQLite file in a process of their own. A query that returns no row blocks its thread inside the
 * driver, where neither a timer nor a signal gets a turn; ending a thread waits for the driver too. A process is ended by
 * the kernel.
 */
export function openInProcess(start: StartSqliteProcess, place: SqlitePlace): OpenRows {
  return async ({ signal, ...request }) => {
    const child = start();
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      // One that could not be started does not exit.
      child.once('error', () => resolve());
    });
    const answers = on(child, 'message', { close: ['exit'] })[Symbol.asyncIterator]();
    const kill = () => void child.kill('SIGKILL');
    signal.addEventListener('abort', kill, { once: true });
    if (signal.aborted) kill();

    const close = async () => {
      signal.removeEventListener('abort', kill);
      kill();
      await ended;
    };
    const ask = (order: SqliteOrder) => void child.send(order, () => {});
    const receive = async (): Promise<Exclude<SqliteAnswer, { kind: 'failed' }>> => {
      const { value, done } = await answers.next();
      signal.throwIfAborted();
      // Somebody killed it, or the driver aborted it.
      if (done) throw createDatabaseFault('lost', place.where, child.signalCode ?? `exit ${child.exitCode}`);
      const answer: SqliteAnswer = value[0];
      if (answer.kind === 'failed') throw toError(answer);
      return answer;
    };

    try {
      ask({ kind: 'open', place, request });
      const opened = await receive();
      // While these rows are used, the next ones are read.
      ask({ kind: 'next' });
      let isAtEnd = false;
      return {
        columns: opened.kind === 'opened' ? opened.columns : [],
        async next() {
          if (isAtEnd) return [];
          const answer = await receive();
          const rows = answer.kind === 'rows' ? answer.rows : [];
          isAtEnd = rows.length === 0;
          if (!isAtEnd) ask({ kind: 'next' });
          return rows;
        },
        close,
      } satisfies SqlRows;
    } catch (error) {
      await close();
      throw error;
    }
  };
}

function toError({ fault, message }: Extract<SqliteAnswer, { kind: 'failed' }>): Error {
  return fault === undefined ? new Error(message) : new SourceError(fault, message);
}

/** The process's end: opens the rows, and reads a part of them per order. */
export async function answerOrders(
  process: Pick<NodeJS.Process, 'on' | 'send'>,
  openRows: (place: SqlitePlace, request: RowsRequest) => Promise<SqlRows>,
): Promise<void> {
  const { signal } = new AbortController();
  let rows: SqlRows | undefined;
  const answer = async (order: SqliteOrder): Promise<SqliteAnswer> => {
    try {
      if (order.kind === 'next') return { kind: 'rows', rows: (await rows?.next()) ?? [] };
      rows = await openRows(order.place, { ...order.request, signal });
      return { kind: 'opened', columns: rows.columns };
    } catch (error) {
      if (error instanceof SourceError) return { kind: 'failed', fault: error.fault, message: error.message };
      const name = error instanceof Error ? error.name : 'unknown error';
      return { kind: 'failed', fault: undefined, message: `the SQLite file could not be read (${name})` };
    }
  };
  process.on('message', (order: SqliteOrder) => void answer(order).then((value) => process.send?.(value)));
}
