import { businessDayAt, createBusinessDay } from '../src/booking/business-day.js';
import type { ProvidersOptions } from '../src/cli/commands/history.js';
import { exitCode } from '../src/cli/exit-code.js';
import { providerColumns, renderProviders, toProviderCells } from '../src/cli/providers.js';
import type { Config } from '../src/config/load.js';
import { orderProviders, toProviderReport } from '../src/report/providers.js';
import { scoreProviders } from '../src/scorecard/scorecard.js';
import { writeCsvFile } from '../src/text/output-files.js';
import { UsageError } from '../src/text/usage-error.js';
import { clock } from './clock.js';
import { withReadOnlyLedger } from './parts.js';
import { readSilence } from './silence.js';
import type { Terminal } from './terminal.js';

const usualDays = 30;
const daysAtOnce = 1_000;

/** Compares the providers over a range of days; exits with 1 if nothing was sent in it. */
export async function scoreAllProviders(
  config: Config,
  options: ProvidersOptions,
  terminal: Terminal,
): Promise<number> {
  const { timezone } = config;
  const today = businessDayAt(new Date(clock()), timezone).iso;
  const days = listDays(options, today, timezone);
  const range = { from: days.at(0) ?? today, to: days.at(-1) ?? today };
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { ...range, providers: [] });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const silence = await readSilence(config, ledger, clock());
    const parts = { ledger, timezone, signal: terminal.signal, silence };
    const scores = await scoreProviders(parts, days);
    const providers = orderProviders(scores.map(toProviderReport));
    const { csv } = options;
    if (csv !== undefined)
      await writeCsvFile(providerColumns, { ...options, csv }, terminal, (add) =>
        add(providers.map(toProviderCells)),
      );
    terminal.answer(renderProviders(range, providers, csv), { ...range, providers });
    return providers.length > 0 ? exitCode.done : exitCode.failed;
  });
}

/** The latest days, unless others are asked for. */
function listDays({ from, to }: ProvidersOptions, today: string, timezone: string): string[] {
  let first = createBusinessDay(to ?? today, timezone);
  const last = first.iso;
  if (from !== undefined) first = createBusinessDay(from, timezone);
  else for (let back = 1; back < usualDays; back += 1) first = first.previous();
  if (last < first.iso) throw new UsageError(`--to ${last} is before --from ${first.iso}`);
  const days: string[] = [];
  for (let day = first; day.iso <= last; day = day.next()) {
    if (days.length === daysAtOnce)
      throw new UsageError(`the range is longer than ${daysAtOnce} days; name a shorter one`);
    days.push(day.iso);
  }
  return days;
}
