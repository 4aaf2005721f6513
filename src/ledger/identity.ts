import { change, one, type Query, readsTogether, sql, writes } from './query.js';
import { runs } from './runs.js';
import * as t from './table.js';

/**
 * Which ledger this is: one row, made with the ledger. `changes` rises in the transaction that starts a run or changes its state, so of
 * two copies of a ledger the older one has fewer.
 */
export const ledgerIdentity = t.table('ledger_identity', { id: t.text(), changes: t.count }, { key: 'id' });

export type LedgerIdentity = t.Row<typeof ledgerIdentity>;

export function* noteChangedRun(): Query<void> {
  yield* change(sql`UPDATE ${ledgerIdentity} SET changes = changes + 1`);
}

/**
 * Another copy of the same lost ledger may know more of its runs than this one, but nothing of what comes: it must count as older, also if
 * it was itself made the ledger of the archive, which then knows of its changes. So many changes no ledger sees.
 *
 * @param mark the text in the archive; undefined if there is none
 */
export const leaveCopiesBehind = writes(function* (mark: string | undefined): Query<void> {
  const { ledger = '', changes = 0 } = (mark === undefined ? undefined : parseMark(mark)) ?? {};
  yield* change(
    sql`UPDATE ${ledgerIdentity} SET changes = 1000000 +
      CASE WHEN id = ${ledger} AND changes < ${changes} THEN ${changes} ELSE changes END`,
  );
});

/** The ledger's identity, and the run that ended last. */
export const identify = readsTogether(function* (): Query<LedgerMark> {
  const identity = yield* ledgerIdentity.find(sql``);
  if (!identity) throw new Error('expected a ledger with an identity, got: none');
  const run = yield* one<{ id: string; day: string; finishedAt: number }>(
    sql`SELECT id, day, finished_at FROM ${runs} WHERE finished_at IS NOT NULL
     ORDER BY finished_at DESC, number DESC LIMIT 1`,
  );
  const latestRun = run && { id: run.id, day: run.day, endedAt: new Date(run.finishedAt).toISOString() };
  return { ledger: identity.id, changes: identity.changes, ...(latestRun && { latestRun }) };
});

/** What a ledger is, and what it knew when a run of it ended: kept in the archive, and compared with the ledger. */
export interface LedgerMark {
  readonly ledger: string;
  readonly changes: number;
  /** The run that ended last. */
  readonly latestRun?: { readonly id: string; readonly day: string; readonly endedAt: string };
}

export function renderMark(mark: LedgerMark): string {
  return `${JSON.stringify(mark, null, 2)}\n`;
}

/** Undefined for a text that is no mark: then the archive belongs to a ledger that nobody knows. */
export function parseMark(text: string): LedgerMark | undefined {
  try {
    const mark: unknown = JSON.parse(text);
    return isMark(mark) ? mark : undefined;
  } catch {
    return undefined;
  }
}

function isMark(value: unknown): value is LedgerMark {
  if (typeof value !== 'object' || value === null) return false;
  const { ledger, changes } = value as Record<string, unknown>;
  return typeof ledger === 'string' && Number.isSafeInteger(changes);
}

/**
 * `no-mark`: the archive knows no ledger yet. `unknown-ledger`: it belongs to another one, or there is none here. `older-ledger`: it
 * knows of a later run than this copy of the ledger does.
 */
export type LedgerFit = 'fits' | 'no-mark' | 'unknown-ledger' | 'older-ledger';

/**
 * Whether a ledger is the one that the archive belongs to. Whoever wants to review, or to say what is in the archive, asks this.
 *
 * @param ledger undefined if there is none
 * @param mark the text in the archive; undefined if there is none
 */
export function decideFit(ledger: LedgerMark | undefined, mark: string | undefined): LedgerFit {
  if (mark === undefined) return 'no-mark';
  const known = parseMark(mark);
  if (!ledger || known?.ledger !== ledger.ledger) return 'unknown-ledger';
  return known.changes > ledger.changes ? 'older-ledger' : 'fits';
}

/** Whether the archive is to be told of this ledger's latest run: never in place of a later one, nor of another ledger's. */
export function isToBeMarked(ledger: LedgerMark, mark: string | undefined): boolean {
  switch (decideFit(ledger, mark)) {
    case 'no-mark':
      return true;
    case 'fits':
      return mark !== renderMark(ledger);
    case 'unknown-ledger':
    case 'older-ledger':
      return false;
  }
}
