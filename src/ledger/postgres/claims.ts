import { randomUUID } from 'node:crypto';
import type { Hold } from '../../base/abort.js';
import { preparingKinds } from '../../rules/file-chain.js';
import type { Claimed, Outcome, Recorded, SharedRight } from '../../rules/step.js';
import { compareClocks, type PeerClock } from '../../transports/http/peer-clocks.js';
import { storedBatches } from '../batches.js';
import { LedgerAwayError } from '../errors.js';
import { type StoredRow, sql } from '../query.js';
import { runColumns, runs, toRun } from '../runs.js';
import { contextOfAnswer, contextOfBatch, type Sealing } from '../sealing.js';
import { attempts, steps, toStep } from '../steps.js';
import { literals } from '../table.js';
import type { Database } from './database.js';
import type { Session } from './session.js';

/** How long a release is retried; after that the lease expires by itself. */
const releasePatienceMs = 5_000;

const holds = sql.table('holds');
export const after = (ms: number) => sql`clock_timestamp() + ${ms} * interval '1 millisecond'`;

/** Named exclusive rights: rows with a lease, by the database's clock, that their holder renews. */
export function createHolds(database: Database, leaseMs: number, peerClock?: PeerClock) {
  const held = new Set<{ releaseWithin(patienceMs: number): Promise<void> }>();

  return {
    /** Takes the right without waiting; undefined if somebody else holds it. */
    async take(name: string): Promise<Hold | undefined> {
      const holder = randomUUID();
      // Counted from before the request: by our clock the lease never lasts longer than by the database's.
      let renewedAt = performance.now();
      const isOurs = await database.perform(async (session) => {
        renewedAt = performance.now();
        const sentAt = peerClock?.clock();
        const taken = await session.row(
          sql`INSERT INTO ${holds} AS hold (name, holder, lease_until)
           VALUES (${name}, ${holder}, ${after(leaseMs)})
           ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
           WHERE hold.lease_until <= clock_timestamp() OR hold.holder = excluded.holder
           RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`,
        );
        if (taken && sentAt !== undefined) {
          const now = Number(taken.now);
          peerClock?.note(compareClocks({ from: now, to: now }, { sentAt, receivedAt: peerClock.clock() }));
        }
        return taken !== undefined;
      });
      if (!isOurs) return undefined;

      const lost = new AbortController();
      let isHeld = true;
      let renewal: NodeJS.Timeout | undefined;
      let end: NodeJS.Timeout | undefined;

      function schedule(): void {
        clearTimeout(end);
        // A process that was frozen finds this timer due when it resumes.
        end = setTimeout(lose, renewedAt + leaseMs - performance.now()).unref();
        renewal = setTimeout(renew, leaseMs / 3).unref();
      }

      function stop(): void {
        isHeld = false;
        clearTimeout(renewal);
        clearTimeout(end);
        held.delete(current);
      }

      function lose(): void {
        stop();
        lost.abort();
      }

      async function renew(): Promise<void> {
        const askedAt = performance.now();
        let isStillOurs = true;
        try {
          isStillOurs = await database.perform(
            async (session) =>
              (await session.run(
                sql`UPDATE ${holds} SET lease_until = ${after(leaseMs)}
                 WHERE name = ${name} AND holder = ${holder}`,
              )) === 1,
            { patienceMs: leaseMs / 6, timeoutMs: leaseMs / 3, isUrgent: true },
          );
          renewedAt = askedAt;
        } catch {
          // Whatever failed may work again before the lease expires.
        }
        if (!isHeld) return;
        if (isStillOurs) schedule();
        else lose();
      }

      const current = {
        async releaseWithin(patienceMs: number): Promise<void> {
          if (!isHeld) return;
          stop();
          try {
            await database.perform(
              (session) => session.run(sql`DELETE FROM ${holds} WHERE name = ${name} AND holder = ${holder}`),
              { patienceMs, timeoutMs: releasePatienceMs, isUrgent: true },
            );
          } catch (error) {
            // It is no longer renewed, so it expires by itself.
            if (!(error instanceof LedgerAwayError)) throw error;
          }
        },
      };
      held.add(current);
      schedule();
      return { lost: lost.signal, release: () => current.releaseWithin(releasePatienceMs) };
    },

    /** Releases everything that is still held. */
    async close(): Promise<void> {
      await Promise.all([...held].map((hold) => hold.releaseWithin(0)));
    },
  };
}

export interface ClaimRequest {
  readonly right: SharedRight;
  readonly step: string;
  readonly attempt: number;
  readonly at: number;
  /** By the database's clock. */
  readonly leaseMs: number;
  /** A UUID of this request: finds its claim again if the answer was lost. */
  readonly id: string;
  readonly worker: string | undefined;
}

/** The columns of a claim. */
const claimedColumns = sql`steps.run, steps.name, steps.kind, steps.stream, steps.batch, steps.first,
  steps.bookings, steps.tries, steps.waits, steps.not_before, steps.may_repeat`;
/**
 * The lines, as text unless they are encrypted: the server writes bytes in hexadecimal, twice as long, which takes 6 % of a run by body.
 */
const isSealed = sql.raw(`substr(batches.lines, 1, 1) = '\\x00'::bytea`);
const selectedLines = sql`CASE WHEN ${isSealed} THEN batches.lines END AS sealed,
  CASE WHEN NOT ${isSealed} THEN convert_from(batches.lines, 'UTF8') END AS plain`;
const linesOfStep = sql`LEFT JOIN ${storedBatches}
  ON batches.run = steps.run AND batches.stream = steps.stream AND batches.batch = steps.batch`;

/**
 * Claims a step in one statement that returns everything needed to perform it: with many machines, round trips are the
 * limit, and how long the run's row is locked. That row is locked first, so that the
 * token is current; if two try to claim the step, the second waits for the first and then finds the step taken.
 */
export async function claim(
  session: Session,
  { open }: Sealing,
  request: ClaimRequest,
  mayBeDone: boolean,
): Promise<Claimed | undefined> {
  const { right, step, attempt, at, leaseMs, id, worker } = request;
  const row =
    (await session.preparedRow(
      'claim step',
      sql`WITH runs AS MATERIALIZED (
         SELECT number, ${runColumns} FROM ${runs}
         WHERE id = ${right.runId} AND (${right.token ?? null}::integer IS NULL OR token = ${right.token ?? null})
           AND state IN ('delivering', 'awaiting-result') AND overdue_at IS NULL
         FOR NO KEY UPDATE
       ), steps AS (
         UPDATE ${steps} SET
           state = 'running', attempts = attempts + 1, token = runs.token, claimed_at = ${at}, claim_id = ${id},
           worker = coalesce(${worker ?? null}, steps.worker),
           lease_until = ${after(leaseMs)}, may_repeat = outcome_unknown, outcome_unknown = 0,
           repeated = steps.repeated + outcome_unknown
         FROM runs
         WHERE steps.run = runs.number AND name = ${step} AND steps.state = 'ready' AND attempts = ${attempt} - 1
         RETURNING ${claimedColumns},
           -- Bookings count once, however often they are sent: see bookingsSent.
           CASE WHEN steps.may_repeat = 1 AND steps.repeated = 1 AND kind NOT IN (${literals(preparingKinds)})
             THEN bookings ELSE 0 END AS newly_repeated
       ), counted AS (
         UPDATE ${runs} AS counted SET repeated = counted.repeated + newly_repeated
         FROM steps WHERE counted.number = steps.run AND newly_repeated > 0
       )
       SELECT steps.*, ${runColumns}, ${selectedLines},
         -- Of two columns of a name the later one is read.
         runs.repeated + newly_repeated AS repeated
       FROM steps JOIN runs ON runs.number = steps.run ${linesOfStep}`,
    )) ?? (mayBeDone ? await findClaim(session, request) : undefined);
  if (!row) return undefined;
  const run = toRun(row);
  const claimed = toStep(right.runId, { ...row, attempts: attempt - 1 });
  const { slice } = claimed;
  const lines = row.plain === undefined ? (row.sealed as Buffer | undefined) : Buffer.from(String(row.plain));
  return {
    step: { ...claimed, state: 'ready' },
    attempt,
    token: run.token,
    claimedAt: at,
    mayRepeat: row.mayRepeat === 1,
    run,
    ...(lines && slice && { lines: open(lines, contextOfBatch(Number(row.run), slice.stream, slice.batch)) }),
  };
}

function findClaim(session: Session, { right, step, id }: ClaimRequest): Promise<StoredRow | undefined> {
  return session.row(
    sql`SELECT ${claimedColumns}, ${runColumns}, ${selectedLines}
     FROM ${steps} JOIN ${runs} ON steps.run = runs.number ${linesOfStep}
     WHERE runs.id = ${right.runId} AND runs.token = steps.token AND name = ${step}
       AND steps.state = 'running' AND claim_id = ${id}`,
  );
}

/**
 * Records in one statement what nearly every attempt of a large day finds: an accepted batch.
 * All workers of a run write to its row in turn; this way it is locked only for the commit, not during network round
 * trips. A test shows that this does what `decideChange` decides for such an outcome.
 *
 * Undefined, with nothing changed, for any other outcome or an outdated claim: `record` handles those.
 */
export async function recordAcceptedBatch(
  session: Session,
  { sealText }: Sealing,
  { held, outcome, at }: { readonly held: Claimed; readonly outcome: Outcome; readonly at: number },
  mayBeDone: boolean,
): Promise<Recorded | undefined> {
  const { step, attempt, token, claimedAt, run } = held;
  const { kind, evidence, file, verdicts, nothingSent } = outcome;
  if (kind !== 'done' || step.kind !== 'batch' || file || verdicts || nothingSent) return undefined;
  const answer = sealText(run.day, evidence.answer, contextOfAnswer(step.runId, step.name, attempt));
  const row =
    (await session.preparedRow(
      'record accepted batch',
      sql`WITH run AS MATERIALIZED (
       SELECT number FROM ${runs}
       WHERE id = ${step.runId} AND token = ${token} AND delivery = 'body'
       FOR NO KEY UPDATE
     ), ended AS (
       UPDATE ${steps} SET state = 'done', ended_at = ${at}, last_code = ${evidence.code}, outcome_unknown = 0
       FROM run
       WHERE steps.run = run.number AND name = ${step.name} AND state = 'running'
         AND attempts = ${attempt} AND token = ${token}
       RETURNING steps.run, bookings, worker
     ), kept AS (
       INSERT INTO ${attempts}
         (run, step, attempt, worker, started_at, ended_at, outcome, code, http_status, status_code, answer, sha256)
       SELECT run, ${step.name}, ${attempt}, worker, ${claimedAt}, ${at}, 'done', ${evidence.code},
         ${evidence.httpStatus ?? null}, ${evidence.statusCode ?? null}, ${answer ?? null}, ${evidence.sha256 ?? null}
       FROM ended
     )
     UPDATE ${runs} SET
       delivered = delivered + ended.bookings, open_steps = open_steps - 1, failures_in_row = 0
     FROM ended WHERE number = ended.run
     RETURNING ${runColumns}`,
    )) ?? (mayBeDone ? await findAccepted(session, held, at) : undefined);
  return row && { run: toRun(row), ending: 'done', opened: [], settled: false };
}

function findAccepted(session: Session, { step, attempt, claimedAt }: Claimed, at: number) {
  return session.row(
    sql`SELECT ${runColumns} FROM ${runs} JOIN ${attempts} ON attempts.run = runs.number
     WHERE id = ${step.runId} AND step = ${step.name} AND attempt = ${attempt}
       AND outcome = 'done' AND attempts.started_at = ${claimedAt} AND ended_at = ${at}`,
  );
}
