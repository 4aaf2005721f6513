import { giveWay } from '../base/give-way.js';
import type { Run } from '../rules/run.js';
import { all, type Cell, type Query, type Statement } from './query.js';
import { toRun } from './run.js';
import * as t from './table.js';

/** A slice of a list of runs: see `readInSlices`. */
export interface RunSlice {
  readonly limit: number;
  /** The id of the run before the first one of the slice. */
  readonly after?: string | undefined;
}

interface RunsOfDay extends RunSlice {
  /** Only those of this day. */
  readonly day?: string | undefined;
}

/** Newest day first, and within a day the newest run first. */
export function* listRuns(slice: RunsOfDay): Query<Run[]> {
  const { sql, values } = selectSlice('*', slice);
  return (yield* all(sql, ...values)).map(toRun);
}

const runKeys = t.columnsOf({ id: t.text(), day: t.text() });
export type RunKey = t.Row<typeof runKeys>;

/** The same runs: a fifth of the memory for whoever looks at every one. */
export function listRunKeys(slice: RunsOfDay): Query<RunKey[]> {
  const { sql, values } = selectSlice('id, day', slice);
  return runKeys.all(sql, ...values);
}

function selectSlice(columns: string, { day, after, limit }: RunsOfDay): Statement<Cell> {
  const conditions = ['1 = 1'];
  if (day !== undefined) conditions.push('day = ?');
  if (after !== undefined) conditions.push('(day, number) < (SELECT day, number FROM runs WHERE id = ?)');
  return {
    sql: `SELECT ${columns} FROM runs WHERE ${conditions.join(' AND ')} ORDER BY day DESC, number DESC LIMIT ?`,
    values: [...[day, after].filter((value) => value !== undefined), limit],
  };
}

const runsAtOnce = 200;

/**
 * Any number of runs, of which only some are in memory at once: after years there are tens of thousands. Lets others work
 * between two slices.
 *
 * @param list the next runs after one of them; the first ones without
 */
export async function* readInSlices<Item extends RunKey>(
  list: (slice: RunSlice) => Promise<readonly Item[]>,
): AsyncGenerator<Item, void, undefined> {
  let after: string | undefined;
  for (;;) {
    const runs = await list({ after, limit: runsAtOnce });
    yield* runs;
    if (runs.length < runsAtOnce) return;
    after = runs.at(-1)?.id;
    await giveWay();
  }
}
