import type { ReadOnlyLedger } from '../../../src/ledger/ledger.js';
import type { ReceivedPair, StoredBooking } from '../../../src/ledger/mails.js';
import type { Case } from '../../../src/rules/case.js';
import { type Judged, stillCounts } from '../../../src/rules/review-file.js';
import type { Run } from '../../../src/rules/run.js';
import type { StepState } from '../../../src/rules/step.js';
import { toLines } from '../../contracts/ledger/days.js';
import { fakeLedger } from '../../support/fake-ledger.js';

/** What a ledger knows about a run. */
export interface StoredDay {
  readonly run: Run;
  readonly file?: readonly (readonly string[])[];
  readonly posted?: readonly (readonly string[])[];
  readonly judged?: Partial<Record<Judged, Readonly<Record<number, readonly number[]>>>>;
  readonly undelivered?: readonly {
    readonly batch: number;
    readonly first: number;
    readonly bookings: number;
    readonly state: StepState;
  }[];
  /** The bookings that e-mails name. */
  readonly named?: readonly Pick<StoredBooking, 'stream' | 'batch' | 'row'>[];
  readonly suspects?: readonly {
    readonly stream: 'posted' | 'file';
    readonly batch: number;
    readonly rows: readonly number[];
  }[];
}

/** A ledger of these runs. */
export function ledgerOf(
  stored: readonly StoredDay[],
  cases: readonly Case[] = [],
  pairs: readonly ReceivedPair[] = [],
): ReadOnlyLedger {
  const find = (runId: string) => stored.find(({ run }) => run.id === runId);
  const ledger = fakeLedger({
    runs: {
      list: async ({ day }) => stored.map(({ run }) => run).filter((run) => run.day === day),
      markDays: async () => [...new Set(stored.map(({ run }) => run.day))].map((day) => ({ day, mark: '' })),
    },
    days: { listOutcomes: async () => [], listSuperseded: async () => [] },
    steps: { listUndelivered: async (runId) => [...(find(runId)?.undelivered ?? [])] },
    bookings: {
      measureBatches: async (runId, stream) => ({
        batches: find(runId)?.[stream]?.length ?? 0,
        bookings: find(runId)?.[stream]?.flat().length ?? 0,
      }),
      readBatches: async (runId, stream, { from, to }) =>
        find(runId)?.[stream]?.slice(from, to).map(toLines) ?? [],
      nextJudged: async (runId, judged, after = -1) => {
        const ofKind = stillCounts(judged) ? find(runId)?.judged?.[judged] : undefined;
        const found = Object.entries(ofKind ?? {}).find(([batch]) => Number(batch) > after);
        return found && { batch: Number(found[0]), rows: found[1], lines: [] };
      },
      nextSuspects: async (runId, after) => {
        const order = (stream: string, batch: number) => `${stream} ${batch + 1}`;
        const next = find(runId)?.suspects?.find(
          ({ stream, batch }) => order(stream, batch) > order(after?.stream ?? '', after?.batch ?? -1),
        );
        return (
          next && {
            cursor: { stream: next.stream, batch: next.batch },
            stream: next.stream,
            suspects: next.rows.map((row) => ({ row, reason: 'moved' as const, line: '' })),
          }
        );
      },
    },
    mails: {
      listNamedRows: async (runId) => [...(find(runId)?.named ?? [])],
      listNamedPairs: async () => [...pairs],
    },
    cases: {
      listOpened: async ({ from, to }) => cases.filter(({ openedAt }) => openedAt >= from && openedAt <= to),
    },
  });
  return ledger;
}
