import { giveWay } from '../async/give-way.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { keyOfCase } from './case.js';
import type { CasePage, OpenReference } from './case-store.js';

/* Reads what the bookings of runs are compared with, some rows at a time. */

export interface OpenCaseParts {
  readonly cases: ReadOnlyLedger['cases'];
  /** The ids of cases to leave out, ascending. */
  readonly except: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

const rowsAtOnce = 2_000;

/** The ids of the active cases, by their keys. */
export async function readActiveCases({
  cases,
  except,
  signal,
}: OpenCaseParts): Promise<ReadonlyMap<string, number>> {
  const active = new Map<string, number>();
  for (const gap of listGaps(except)) {
    let page: CasePage | undefined = { ...gap, limit: rowsAtOnce };
    while (page) {
      const found = await cases.listActiveKeys(page);
      for (const item of found) active.set(keyOfCase(item), item.id);
      page = found.length < rowsAtOnce ? undefined : { ...page, after: found.at(-1)?.id };
      await giveWay(signal);
    }
  }
  return active;
}

/** The open bookings of cases, by their references. */
export type OpenReferences = ReadonlyMap<string, readonly OpenReference[]>;

export async function readOpenReferences(
  { cases, except, signal }: OpenCaseParts,
  today: string,
): Promise<OpenReferences> {
  const open = new Map<string, OpenReference[]>();
  for (const gap of listGaps(except)) {
    let page: Parameters<typeof cases.listOpenReferences>[1] | undefined = { ...gap, limit: rowsAtOnce };
    while (page) {
      const found = await cases.listOpenReferences(today, page);
      for (const item of found) {
        const known = open.get(item.reference);
        if (known) known.push(item);
        else open.set(item.reference, [item]);
      }
      const last = found.at(-1);
      page = found.length < rowsAtOnce ? undefined : { ...page, after: last?.id, afterPlace: last?.place };
      await giveWay(signal);
    }
  }
  return open;
}

/** The ranges of ids between these. There are few, because a process that opens cases gets consecutive ids. */
function listGaps(ids: readonly number[]): Pick<CasePage, 'after' | 'before'>[] {
  const gaps: Pick<CasePage, 'after' | 'before'>[] = [];
  let after = 0;
  for (const id of ids) {
    if (id > after + 1) gaps.push({ after, before: id });
    after = id;
  }
  return [...gaps, { after }];
}
