import { businessDayAt } from '../src/booking/business-day.js';
import { findCases } from '../src/cases/find-cases.js';
import { renderCases } from '../src/cli/cases.js';
import type { CasesOptions } from '../src/cli/commands/cases.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { listCaseColumns, toCaseCells, toCaseReport } from '../src/report/cases.js';
import { writeCsvFile } from '../src/text/output-files.js';
import { recordLook } from './audit.js';
import { clock } from './clock.js';
import { withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

/** Lists the cases with open bookings, or those asked for, guests in house first. */
export async function listCases(config: Config, options: CasesOptions, terminal: Terminal): Promise<number> {
  const { csv, state, provider, checkInBefore, left } = options;
  const keptLabels = Object.keys(config.source.keep);
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { cases: [] });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const today = businessDayAt(new Date(clock()), config.timezone).iso;
    const cases = await findCases(ledger, { state, provider, checkInBefore, left, today }, clock, keptLabels);
    const details = { found: cases.length, state, csv: csv && terminal.locate(csv) };
    await recordLook(ledger, { action: 'cases', details }, terminal);
    if (csv !== undefined)
      await writeCsvFile(listCaseColumns(keptLabels), { ...options, csv }, terminal, (add) =>
        add(cases.map(toCaseCells)),
      );
    const hasHotels = (await ledger.hotels.latestLoad()) !== undefined;
    const filter = describeFilter(options);
    await terminal.answerLarge(
      renderCases(cases, { command: terminal.command, csv, filter, hasHotels, keptLabels }),
      {
        cases: async function* () {
          yield cases.map(toCaseReport);
        },
      },
    );
    return exitCode.done;
  });
}

function describeFilter({ state, provider, checkInBefore, left }: CasesOptions): string {
  return [
    state === undefined ? (left ? '' : ' with open bookings') : ` in the state ${state}`,
    left ? ' with bookings that nobody resolved before the guests left' : '',
    provider === undefined ? '' : ` of ${provider}`,
    checkInBefore === undefined ? '' : ` and a check-in before ${checkInBefore}`,
  ].join('');
}
