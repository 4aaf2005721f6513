import pg from 'pg';
import { openPostgresLedger } from '../ledger/opened-postgres.js';
import type { Postgres } from '../support/postgres.js';
import { leaseMs } from './jumping-workforce.js';
import { DeathError } from './life.js';
import { type Engine, selectBegun, toBegunStep } from './live.js';

type Query = (this: pg.Client, ...given: unknown[]) => Promise<unknown>;

/** Not one that the ledger takes for a lost connection, after which it would try again. */
const refusedState = '22000';

export function onPostgres(server: () => Postgres): Engine {
  return {
    commitsAtOnce: false,

    async openPlace() {
      const { url, open, query, cleanUp } = await openPostgresLedger(server());
      return {
        address: url,
        open: (clock) => open({ clock, leaseMs }),
        async bury() {
          const [found] = await query("SELECT to_regclass('hotel_review.steps') AS steps");
          if (found?.steps === null) return undefined;
          await query('UPDATE hotel_review.holds SET lease_until = now()');
          return toBegunStep(await query(selectBegun('hotel_review.')));
        },
        remove: cleanUp,
      };
    },

    /** Each write outside of a transaction is a commit, too. */
    countCommits(current) {
      const prototype = pg.Client.prototype as unknown as { query: Query };
      const { query } = prototype;
      const inTransaction = new WeakMap<pg.Client, 'reading' | 'writing'>();

      prototype.query = function (...given) {
        const sql = textOf(given[0]);
        const pass = async () => query.apply(this, given);
        if (!isLedger(this) || sql === undefined) return query.apply(this, given);
        const { life, onCommit } = current();
        if (life.isOver && sql !== 'ROLLBACK')
          return Promise.reject(refused(new DeathError(`a query of a dead process: ${sql}`)));
        if (sql.startsWith('BEGIN'))
          inTransaction.set(this, sql.includes('READ ONLY') ? 'reading' : 'writing');
        const transaction = inTransaction.get(this);
        if (sql === 'COMMIT' || sql === 'ROLLBACK') inTransaction.delete(this);
        const commits = transaction ? transaction === 'writing' && sql === 'COMMIT' : writes(sql);
        if (!commits) return pass();
        return life
          .pass('commit', async () => {
            const answer = await pass();
            if (sql === 'COMMIT' || hasRows(answer)) onCommit();
            return answer;
          })
          .catch(async (error: unknown) => {
            // Ends at once what the server would end when the connection breaks.
            if (sql === 'COMMIT') await query.apply(this, ['ROLLBACK']);
            throw error instanceof DeathError ? refused(error) : error;
          });
      };
      return () => {
        prototype.query = query;
      };
    },
  };
}

function refused(error: DeathError): DeathError {
  return Object.assign(error, { code: refusedState });
}

/** The ledger's connections, not those that look past it. */
function isLedger(client: pg.Client): boolean {
  const parameters: unknown = Reflect.get(client, 'connectionParameters');
  return (
    typeof parameters === 'object' &&
    parameters !== null &&
    Reflect.get(parameters, 'application_name') === 'hotel-review'
  );
}

/** Undefined for the rows of a COPY, which only transactions have. */
function textOf(query: unknown): string | undefined {
  if (typeof query === 'string') return query;
  const isPlain = typeof query === 'object' && query !== null && !('submit' in query) && 'text' in query;
  return isPlain ? String(query.text) : undefined;
}

/** A statement that finds nothing to change records nothing. */
function hasRows(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && Number(Reflect.get(answer, 'rowCount')) > 0;
}

function writes(sql: string): boolean {
  return /\b(?:INSERT|UPDATE|DELETE)\b/.test(sql.replaceAll(/FOR (?:NO KEY )?UPDATE/g, ''));
}
