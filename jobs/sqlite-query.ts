import { readSync } from 'node:fs';
import { isMainThread, Worker } from 'node:worker_threads';
import { answerOrders } from '../src/sources/sql/sqlite-process.js';
import { openSqliteRows } from '../src/sources/sql/sqlite-rows.js';

/**
 * The process that reads a SQLite file for a source. It is killed when it is no longer needed, even in the middle of a query:
 * it only reads, and the kernel releases its locks.
 */
function answerParent(): void {
  // These reach all processes of a terminal or a service. The parent decides what happens to the query.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  new Worker(new URL(import.meta.url)).unref();
  void answerOrders(process, openSqliteRows);
}

/** Ends the process once the parent has ended, for whatever reason: a query that blocks the main thread would continue. */
function endWithParent(): void {
  // The parent writes nothing, so this returns at the end of the stream.
  readSync(0, Buffer.alloc(1));
  process.kill(process.pid, 'SIGKILL');
}

if (isMainThread) answerParent();
else endWithParent();
