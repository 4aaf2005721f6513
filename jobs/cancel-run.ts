import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { type Abandoned, abandon } from '../src/review/day/abandon.js';
import { toReport } from '../src/review/day/report.js';
import { removeSpooled } from '../src/review/file/spooled-files.js';
import type { Ledger } from '../src/review/ledger.js';
import { recordLook } from './audit.js';
import { clock } from './clock.js';
import { findLedger, openLedger, openSpool } from './parts.js';
import type { Terminal } from './terminal.js';

/** Abandons a day's unfinished run, and removes what it left on this machine. */
export async function cancelIn(
  config: Config,
  ledger: Ledger,
  day: string,
  reason: string,
): Promise<Abandoned> {
  const result = await abandon(day, reason, { ledger, clock });
  // A process that is still working on it removes its own files.
  if (result.kind === 'abandoned' && !result.wasBeingWorkedOn)
    await removeSpooled(openSpool(config), result.run.id);
  return result;
}

/** `hotel-review cancel`: the run is never resumed, and the schedule leaves its day alone. */
export async function cancelRun(
  config: Config,
  day: string,
  { reason }: { readonly reason: string },
  terminal: Terminal,
): Promise<number> {
  const reportNone = (message: string): number => {
    terminal.answer(`${message}\n`, { error: { class: 'nothing-to-cancel', message } });
    return exitCode.failed;
  };
  const none = `There is no run of ${day}: nothing to cancel.`;
  const existing = await findLedger(config);
  if (!existing) return reportNone(none);
  await existing.close();
  const ledger = await openLedger(config);
  try {
    const result = await cancelIn(config, ledger, day, reason);
    if (result.kind === 'nothing') {
      const { run } = result;
      return reportNone(
        run ? `The latest run of ${day}, ${run.id}, is ${run.state}: nothing to cancel.` : none,
      );
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
    terminal.answer(`${lines.join('\n')}\n`, {
      ...toReport(run, { now: clock(), timezone: config.timezone }),
      wasBeingWorkedOn,
    });
    return exitCode.done;
  } finally {
    await ledger.close();
  }
}
