import { type Canary, judgeCanary, type NewCanary } from '../rules/canary.js';
import { raise } from './notices.js';
import { all, change, type Query, reads, type Sql, sql, writes } from './query.js';
import { runs } from './runs.js';
import { steps } from './steps.js';
import * as t from './table.js';

/*
 * A canary is an agreed, deliberately wrong pair of a provider's hotel and a master hotel that is sent with each
 * night's bookings, by body and under a reference of its own: if no e-mail names that reference in time, the service
 * reviews nothing, or its e-mails don't arrive. It is not a booking: it is stored apart from them, so that no count or
 * list includes it.
 */

/** The made-up booking of a run that has to be named as incorrect in time. */
export const canaries = t.table(
  'canaries',
  {
    run: t.numberOf('runs'),
    reference: t.text(),
    /** As in a request body, without a line end. */
    line: t.text(),
    withinMs: t.bigint,
    /** When the e-mail that names it arrived. */
    namedAt: t.optional(t.bigint),
    /** When it was reported that no e-mail named it in time. */
    reportedAt: t.optional(t.bigint),
  },
  { key: 'run', unique: ['reference'] },
);

/** The canary that was sent with the run. */
export const find = reads(function* (runId: string): Query<Canary | undefined> {
  return (yield* select(sql`WHERE runs.id = ${runId}`))[0];
});

export const findByReference = reads(function* (reference: string): Query<Canary | undefined> {
  return (yield* select(sql`WHERE reference = ${reference}`))[0];
});

export function* storeCanary(run: number, canary: NewCanary): Query<void> {
  yield* canaries.add({ run, ...canary });
}

/** Only the first e-mail that names it counts. */
export function* nameCanary(reference: string, at: number): Query<number> {
  return yield* change(
    sql`UPDATE ${canaries} SET named_at = ${at} WHERE reference = ${reference} AND named_at IS NULL`,
  );
}

/** The newest run first. */
export const list = reads(
  ({
    day,
    since,
    limit,
  }: {
    readonly limit: number;
    readonly day?: string;
    /** Only of runs that were active since then. */
    readonly since?: number;
  }): Query<readonly Canary[]> => {
    const chosen = sql.and([
      day !== undefined && sql`runs.day = ${day}`,
      since !== undefined && sql`(runs.finished_at IS NULL OR runs.finished_at >= ${since})`,
    ]);
    return select(sql`WHERE ${chosen} ORDER BY canaries.run DESC LIMIT ${limit}`);
  },
);

/** Joined with the step that delivers it: the canary was sent when that step was done. */
function select(rest: Sql): Query<readonly Canary[]> {
  return all<Canary>(
    sql`SELECT reference, line, within_ms, named_at, reported_at, runs.id AS run_id, runs.day,
       CASE WHEN steps.state = 'done' THEN steps.ended_at END AS sent_at,
       CASE WHEN steps.state = 'refused' THEN steps.last_code END AS given_up_for
     FROM ${canaries} JOIN ${runs} ON runs.number = canaries.run
     LEFT JOIN ${steps} ON steps.run = canaries.run AND steps.name = 'canary' ${rest}`,
  );
}

/** Two processes may find the same canaries, but only one of them changes a row. */
export const reportMissed = writes(function* (now: number): Query<Canary[]> {
  const found = yield* select(
    sql`WHERE named_at IS NULL AND reported_at IS NULL AND steps.state = 'done'
       AND steps.ended_at + within_ms <= ${now}
     ORDER BY reference`,
  );
  const missed: Canary[] = [];
  for (const canary of found) {
    const { reference, runId, day } = canary;
    const changed = yield* change(
      sql`UPDATE ${canaries} SET reported_at = ${now}
       WHERE reference = ${reference} AND named_at IS NULL AND reported_at IS NULL`,
    );
    if (changed === 0) continue;
    yield* raise([{ event: 'canary-missed', subject: runId, day, runId, facts: {}, raisedAt: now }]);
    missed.push({ ...canary, reportedAt: now });
  }
  return missed;
});

/** A canary as `run --json`, `status --json` and `show --json` print it. `dueAt`: until when an e-mail must name it. */
export function canaryToJson(canary: Canary, now: number) {
  const { reference, runId, day, sentAt, withinMs, namedAt, givenUpFor } = canary;
  const write = (instant: number | undefined) =>
    instant === undefined ? null : new Date(instant).toISOString();
  return {
    reference,
    runId,
    day,
    state: judgeCanary(canary, now),
    sentAt: write(sentAt),
    dueAt: write(sentAt === undefined ? undefined : sentAt + withinMs),
    namedAt: write(namedAt),
    namedBy: namedAt === undefined ? null : ('email' as const),
    /** How the last attempt ended, if the canary was given up. */
    ...(givenUpFor !== undefined && { code: givenUpFor }),
  };
}
