import { formatCountOf } from '../base/format.js';
import { all, change, database, type Query, reads, renews, sql, writes } from './query.js';
import { runs } from './runs.js';
import { steps } from './steps.js';
import * as t from './table.js';

/** The processes that review days: each has a row while it works. One that was not renewed for a lease is of a process that is gone. */
export const workers = t.table(
  'workers',
  { id: t.text(), host: t.text(), version: t.text(), startedAt: t.bigint, leaseUntil: t.clockTime },
  { key: 'id', isItsIndex: true },
);

export type Worker = Omit<t.Row<typeof workers>, 'leaseUntil'>;

/** Says that the process is there, for another lease. */
export const heartbeat = renews(function* (worker: Worker): Query<void> {
  const { leaseEnd } = yield* database();
  yield* workers.add(worker, sql`ON CONFLICT (id) DO NOTHING`);
  yield* change(sql`UPDATE ${workers} SET lease_until = ${leaseEnd()} WHERE id = ${worker.id}`);
});

/** The process ends. */
export const remove = writes(function* (id: string): Query<void> {
  yield* change(sql`DELETE FROM ${workers} WHERE id = ${id}`);
});

/** Removes those that are gone. In a transaction of its own: several that renew and remove at once would wait for each other. */
export const removeGone = writes(function* (): Query<void> {
  const { isAbandoned } = yield* database();
  yield* change(sql`DELETE FROM ${workers} WHERE ${isAbandoned()}`);
});

/** A process that was seen within the last lease, and how many steps it performs. */
export interface SeenWorker extends Worker {
  readonly busy: number;
}

/** In the order in which they started. */
export const listSeen = reads(function* (): Query<readonly SeenWorker[]> {
  const { isAbandoned } = yield* database();
  return yield* all(
    sql`SELECT id, host, version, started_at, (
       SELECT count(*) FROM ${runs} JOIN ${steps} ON steps.run = runs.number
       WHERE runs.state IN ('delivering', 'awaiting-result') AND steps.state = 'running' AND steps.worker = workers.id
     ) AS busy
     FROM ${workers} WHERE NOT (${isAbandoned()}) ORDER BY started_at, id`,
  );
});

/** What it does now, for people. */
export function describeBusy(busy: number): string {
  return busy === 0 ? 'idle' : formatCountOf(busy, 'step');
}

/** As `status --workers --json` and the home page show it. */
export function workerToJson({ startedAt, ...worker }: SeenWorker) {
  return { ...worker, since: new Date(startedAt).toISOString() };
}
