import { giveWay } from '../async/give-way.js';
import type { Ledger } from '../ledger/ledger.js';

/** Few, because other writers of cases wait for a transaction; with SQLite, so does the whole process. */
export const casesPerTransaction = 25;

/** Changes cases, some in each transaction. Returns how many changed. */
export async function changeCases(
  cases: Ledger['cases'],
  ids: readonly number[],
  decide: Parameters<Ledger['cases']['changeById']>[1],
): Promise<number> {
  let changed = 0;
  for (let from = 0; from < ids.length; from += casesPerTransaction) {
    if (from > 0) await giveWay();
    changed += (await cases.changeById(ids.slice(from, from + casesPerTransaction), decide)).length;
  }
  return changed;
}
