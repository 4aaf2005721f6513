import { Gauge, Registry } from 'prom-client';
import type { LedgerFacts } from './ledger-facts.js';
import { createLedgerGauges } from './ledger-gauges.js';

/** How the command `run` ended. Instants are epoch milliseconds. */
export interface EndedRun {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly exitCode: number;
}

/** What the ledger says after it, if it could be read. */
export interface AfterRun {
  readonly facts: LedgerFacts | undefined;
  readonly names: readonly { readonly place: string; readonly ageDays: number }[];
  readonly timezone: string;
}

/**
 * The metrics of a run that has ended, in Prometheus' text format: how it ended, and those of the ledger. What the process
 * counted is left out: a counter that begins anew with each run can't be compared over time.
 *
 * @param after undefined without a configuration that says where the ledger is
 */
export async function renderRunMetrics(
  { startedAt, endedAt, exitCode }: EndedRun,
  after: AfterRun | undefined,
): Promise<string> {
  const registry = new Registry();
  const set = (name: string, help: string, value: number) =>
    new Gauge({ name: `hotel_review_last_run_${name}`, help, registers: [registry] }).set(value);
  set('timestamp_seconds', 'When the last `run` ended, in seconds since 1970', endedAt / 1000);
  set('duration_seconds', 'How long it took', Math.max(0, endedAt - startedAt) / 1000);
  set(
    'exit_code',
    'Its exit code: 0 done, 1 failed, 2 usage or configuration, 3 result pending, 4 busy, 5 to be accepted',
    exitCode,
  );
  if (after) {
    const { facts, names, timezone } = after;
    const gauges = createLedgerGauges(registry, { clock: () => endedAt, timezone });
    gauges.show(facts);
    gauges.showNames(names);
  }
  return registry.metrics();
}
