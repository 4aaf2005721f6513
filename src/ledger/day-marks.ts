import { createHash } from 'node:crypto';
import { all, type Query } from './query.js';
import type { DayMark } from './runs.js';
import { readColumns, type StoredRow } from './stored-values.js';

/** Everything about the runs of these days that decides what is known of their bookings, in one query. */
export function* markDays({ from, to }: { readonly from: string; readonly to: string }): Query<DayMark[]> {
  const rows = yield* all(
    `SELECT day, number, token, state, accepted, delivered, refused, collected_at, finished_at, suspects, file, pruned_at,
       (SELECT count(*) FROM mail_bookings AS named WHERE named.run = runs.number) AS named
     FROM runs AS runs WHERE day >= ? AND day <= ? ORDER BY day, number`,
    from,
    to,
  );
  const days = new Map<string, StoredRow[]>();
  for (const row of rows) {
    const day = String(row.day);
    const known = days.get(day);
    if (known) known.push(row);
    else days.set(day, [row]);
  }
  return [...days].map(([day, runs]) => ({
    day,
    mark: createHash('sha256').update(JSON.stringify(runs, writeLarge)).digest('base64'),
    finishedAt: runs.flatMap((row) => readColumns(row).integer('finished_at') ?? []),
  }));
}

/** One of the databases returns large numbers as `bigint`. */
function writeLarge(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
