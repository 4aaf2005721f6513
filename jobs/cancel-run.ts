import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { type Abandoned, abandon, type RunToAbandon } from '../src/review/day/abandon.js';
import { toReport } from '../src/review/day/report.js';
import { removeSpooled } from '../src/review/file/spooled-files.js';
import type { Ledger } from '../src/review/ledger.js';
import { recordLook } from './audit.js';
import { clock } from './clock.js';
import { openSpool } from './deliveries.js';
import { findLedger, openLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

/** Abandons an unfinished run, and removes what it left on this machine. */
export async function cancelIn(
  config: Config,
  ledger: Ledger,
  wanted: RunToAbandon,
  reason: string,
): Promise<Abandoned> {
  const result = await abandon(wanted, reason, { ledger, clock });
  // A process that is still working on it removes its own files.
  if (result.kind === 'abandoned' && !result.wasBeingWorkedOn)
    await removeSpooled(openSpool(config), result.run.id);
  return result;
}

/** `hotel-review cancel`: the run is never resumed, and the schedule leaves its day alone. */
export async function cancelRun(
  config: Config,
  wanted: RunToAbandon,
  { reason }: { readonly reason: string },
  terminal: Terminal,
): Promise<number> {
  const reportNone = (message: string): number => {
    terminal.answer(`${message}\n`, { error: { class: 'nothing-to-cancel', message } });
    return exitCode.failed;
  };
  const none = 'day' in wanted ? `There is no run of ${wanted.day}` : `There is no run ${wanted.runId}`;
  const existing = await findLedger(config);
  if (!existing) return reportNone(`${none}: nothing to cancel.`);
  await existing.close();
  const ledger = await openLedger(config);
  try {
    const result = await cancelIn(config, ledger, wanted, reason);
    if (result.kind === 'nothing') {
      const { run } = result;
      if (!run) return reportNone(`${none}: nothing to cancel.`);
      const found = 'day' in wanted ? `The latest run of ${wanted.day}, ${run.id},` : `Run ${run.id}`;
      return reportNone(`${found} is ${run.state}: nothing to cancel.`);
    }
    const { run, wasBeingWorkedOn } = result;
    const action = { action: 'cancel', subject: run.day, details: { run: run.id, reason } } as const;
    await recordLook(ledger, action, terminal);
    const lines = [
      `${run.day}: run ${run.id} was cancelled: ${reason}`,
      ...(wasBeingWorkedOn
        ? ['Another process was working on it. It stops as soon as it writes to the ledger.']
        : []),
      ...(run.counts.delivered > 0 ? ['What was sent stays sent.'] : []),
      `To start the day again: ${terminal.command(`run ${run.day}`)}`,
    ];
    terminal.answer(`${lines.join('\n')}\n`, { ...toReport(run, clock()), wasBeingWorkedOn });
    return exitCode.done;
  } finally {
    await ledger.close();
  }
}
