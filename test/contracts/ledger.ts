import { afterEach, beforeEach, describe } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.js';
import { describeAffected } from './ledger/affected.js';
import { describeAudit } from './ledger/audit.js';
import { describeCanaries } from './ledger/canaries.js';
import { describeCollecting } from './ledger/collecting.js';
import { describeDayOutcomes } from './ledger/day-outcomes.js';
import { describeDayRuns } from './ledger/day-runs.js';
import { describeDelivered } from './ledger/delivered.js';
import { describeErasures } from './ledger/erasures.js';
import { describeExtraColumns } from './ledger/extra-columns.js';
import { describeHistories } from './ledger/histories.js';
import { describeHolding, describePermits } from './ledger/holding.js';
import { describeHookRequests } from './ledger/hook-requests.js';
import { describeRetention } from './ledger/retention.js';
import { describeRuns } from './ledger/runs.js';
import { describeStays } from './ledger/stays.js';
import { describeSteps } from './ledger/steps.js';
import { describeSummaries } from './ledger/summaries.js';
import { describeSuspects } from './ledger/suspects.js';
import { describeTracing } from './ledger/tracing.js';
import { describeVerdictMails } from './ledger/verdict-mails.js';
import { describeVolumes } from './ledger/volumes.js';
import { describeWantedDays } from './ledger/wanted-days.js';

/** An empty ledger. */
export interface OpenedLedger {
  readonly ledger: Ledger;
  /** A second connection on the same database, as another process would have. */
  reopen(): Promise<Ledger>;
  /** Expires every lease that was claimed or renewed so far. */
  endLeases(): Promise<void>;
  /** The rows of a run's steps, in the order of the plan. */
  readSteps(runId: string): Promise<StepRow[]>;
  cleanUp(): Promise<void>;
}

/** A step's row; PostgreSQL returns integers as text. */
export type StepRow = Readonly<Record<string, string | number | boolean | null | Buffer>>;

/** The contract of every adapter of the ledger. */
export function describeLedgerContract(
  name: string,
  { open }: { readonly open: () => Promise<OpenedLedger> },
): void {
  describe(`the ledger contract: ${name}`, () => {
    let opened: OpenedLedger;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.cleanUp());

    for (const describePart of [
      describeRuns,
      describeCollecting,
      describeSteps,
      describeDayOutcomes,
      describeDayRuns,
      describeVolumes,
      describeStays,
      describeWantedDays,
      describeExtraColumns,
      describeAudit,
      describeHistories,
      describeTracing,
      describeAffected,
      describeSuspects,
      describeVerdictMails,
      describeCanaries,
      describeDelivered,
      describeRetention,
      describeErasures,
      describeHolding,
      describePermits,
      describeSummaries,
      describeHookRequests,
    ]) {
      describePart(() => opened);
    }
  });
}
