import { randomUUID } from 'node:crypto';
import type { Hold } from '../../base/hold.js';
import { compareClocks, type PeerClock } from '../../transports/http/peer-clocks.js';
import { LedgerAwayError } from '../errors.js';
import type { Database } from './database.js';

/** How long a release is retried; after that the lease expires by itself. */
const releasePatienceMs = 5_000;

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
          `INSERT INTO hotel_review.holds AS hold (name, holder, lease_until)
           VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
           ON CONFLICT (name) DO UPDATE SET
             holder = excluded.holder, lease_until = clock_timestamp() + $3 * interval '1 millisecond'
           WHERE hold.lease_until <= clock_timestamp() OR hold.holder = excluded.holder
           RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`,
          name,
          holder,
          leaseMs,
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
                `UPDATE hotel_review.holds SET lease_until = clock_timestamp() + $3 * interval '1 millisecond'
                 WHERE name = $1 AND holder = $2`,
                name,
                holder,
                leaseMs,
              )) === 1,
            { patienceMs: leaseMs / 6, timeoutMs: leaseMs / 3 },
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
              (session) =>
                session.run('DELETE FROM hotel_review.holds WHERE name = $1 AND holder = $2', name, holder),
              { patienceMs, timeoutMs: releasePatienceMs },
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
