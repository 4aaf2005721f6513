import type { BusinessDay } from '../src/booking/business-day.js';
import { businessDayAt } from '../src/booking/business-day.js';
import { renderClosing } from '../src/cli/closing.js';
import { exitCodeOf } from '../src/cli/exit-code.js';
import { readRunDetails } from '../src/cli/run-details.js';
import type { Config } from '../src/config/load.js';
import type { DayRequest } from '../src/review/opening.js';
import { toReport } from '../src/review/report.js';
import { forgetOldDays } from '../src/review/retention.js';
import type { Trigger } from '../src/review/run.js';
import { runDay } from '../src/review/run-day.js';
import { clock } from './clock.js';
import { composeReview } from './compose.js';
import { openArchive, openSpool } from './deliveries.js';
import type { Terminal } from './terminal.js';

/** The main job: reviews one business day and answers the exit code. */
export async function reviewDay(
  config: Config,
  day: BusinessDay,
  request: DayRequest & { readonly trigger: Trigger },
  terminal: Terminal,
): Promise<number> {
  const { parts, close } = await composeReview(config, terminal);
  try {
    const { run, wasDone } = await runDay(
      { ...request, day, configuredDelivery: config.delivery },
      parts,
      terminal.signal,
    );
    terminal.endProgress();
    if (wasDone)
      terminal.say(
        `${day.iso} is done already: run ${run.id}; to review it once more: ${terminal.command(`replay ${day.iso}`)}`,
      );
    terminal.say(
      renderClosing(await readRunDetails(parts.ledger, run, parts.source.placeUnit), {
        now: clock(),
        command: terminal.command,
      }),
    );
    terminal.report(toReport(run, clock()));
    const kept = { ledger: parts.ledger, archive: openArchive(config), spool: openSpool(config) };
    await forgetOldDays(kept, config, businessDayAt(new Date(clock()), config.timezone));
    return exitCodeOf(run);
  } finally {
    await close();
  }
}
