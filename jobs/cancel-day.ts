import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { abandonDay } from '../src/review/day/abandon-day.js';
import { toReport } from '../src/review/day/report.js';
import { removeSpooled } from '../src/review/file/spooled-files.js';
import { clock } from './clock.js';
import { openSpool } from './deliveries.js';
import { findLedger, openLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

/** Abandons the unfinished run of a day: nobody resumes it, and the schedule leaves the day alone. */
export async function cancelDay(
  config: Config,
  day: string,
  { reason }: { readonly reason: string },
  terminal: Terminal,
): Promise<number> {
  const reportNone = (message: string): number => {
    terminal.answer(`${message}\n`, { error: { class: 'nothing-to-cancel', message } });
    return exitCode.failed;
  };
  const existing = await findLedger(config);
  if (!existing) return reportNone(`There is no run of ${day}: nothing to cancel.`);
  await existing.close();
  const ledger = await openLedger(config);
  try {
    const result = await abandonDay(day, reason, { ledger, clock });
    if (result.kind === 'nothing') {
      const { run } = result;
      const found = run
        ? `The latest run of ${day}, ${run.id}, is ${run.state}`
        : `There is no run of ${day}`;
      return reportNone(`${found}: nothing to cancel.`);
    }
    const { run, wasBeingWorkedOn } = result;
    // A process that still works on it removes its own files.
    if (!wasBeingWorkedOn) await removeSpooled(openSpool(config), run.id);
    const lines = [
      `${day}: run ${run.id} was cancelled: ${reason}`,
      ...(wasBeingWorkedOn
        ? ['Another process was working on it. It stops as soon as it writes to the ledger.']
        : []),
      ...(run.counts.delivered > 0 ? ['What was sent stays sent.'] : []),
      `To start the day anew: ${terminal.command(`run ${day}`)}`,
    ];
    terminal.answer(`${lines.join('\n')}\n`, { ...toReport(run, clock()), wasBeingWorkedOn });
    return exitCode.done;
  } finally {
    await ledger.close();
  }
}
