import { one, type Query } from './query.js';
import type { KeptData } from './retention.js';
import { readColumns, withoutUndefined } from './stored-values.js';

/** See `KeptDataReader`. */
export function* describeKept(): Query<KeptData> {
  const hasRows = (table: string) => `EXISTS (SELECT 1 FROM ${table} WHERE run = number)`;
  const hasNames = 'names_blanked_at IS NULL';
  const row = yield* one(
    `SELECT coalesce(sum(accepted), 0) AS bookings, min(day) AS since,
       coalesce(sum(CASE WHEN ${hasNames} THEN accepted ELSE 0 END), 0) AS with_names,
       min(CASE WHEN ${hasNames} THEN day END) AS names_since,
       (SELECT count(*) FROM case_bookings) AS cases,
       (SELECT min(day) FROM case_bookings) AS cases_since,
       (SELECT count(*) FROM verdict_mails) AS mails,
       (SELECT min(read_at) FROM verdict_mails) AS mails_since,
       (SELECT count(*) FROM audit_trail) AS actions,
       (SELECT min(at) FROM audit_trail) AS actions_since
     FROM runs WHERE ${hasRows('batches')} OR ${hasRows('rejects')}`,
  );
  const { integer, text } = readColumns(row ?? {});
  const count = (name: string) => integer(name) ?? 0;
  return {
    bookings: withoutUndefined({ count: count('bookings'), since: text('since') }),
    names: withoutUndefined({ count: count('with_names'), since: text('names_since') }),
    cases: withoutUndefined({ count: count('cases'), since: text('cases_since') }),
    mails: withoutUndefined({ count: count('mails'), since: integer('mails_since') }),
    actions: withoutUndefined({ count: count('actions'), since: integer('actions_since') }),
  };
}
