import { businessDayAt } from '../src/booking/business-day.js';
import type { CaseFilter, CaseSummary, ReadOnlyCaseLedger } from '../src/cases/case-store.js';
import {
  byCheckIn,
  type Compared,
  caseColumns,
  type ListedCase,
  renderCases,
  toCaseCells,
  toCaseReport,
} from '../src/cli/cases.js';
import type { CasesOptions } from '../src/cli/commands/cases.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderLargeObject } from '../src/cli/json-stream.js';
import { createCsvFile } from '../src/cli/output-files.js';
import type { Config } from '../src/config/load.js';
import { createHotelComparer, unknownPair } from '../src/mappings/hotels/compare-hotels.js';
import { recordLook } from './audit.js';
import { clock } from './clock.js';
import { withReadOnlyLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

const hotelsPerLookUp = 1_000;

/** Lists the cases with open bookings, or those that are asked for, nearest check-in first. */
export async function listCases(config: Config, options: CasesOptions, terminal: Terminal): Promise<number> {
  const { csv, delimiter, state, provider, checkInBefore } = options;
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { cases: [] });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const today = businessDayAt(new Date(clock()), config.timezone).iso;
    const cases = await findCases(ledger, { state, provider, checkInBefore, today });
    const details = { found: cases.length, state, csv: csv && terminal.locate(csv) };
    await recordLook(ledger, { action: 'cases', details }, terminal);
    if (csv !== undefined) {
      const file = await createCsvFile(caseColumns, csv, terminal.locate(csv), delimiter);
      try {
        await file.add(cases.map(toCaseCells));
      } finally {
        await file.finish();
      }
    }
    const hasHotels = (await ledger.hotels.latestLoad()) !== undefined;
    const filter = describeFilter(options);
    await terminal.answerInPieces(
      renderCases(cases, { command: terminal.command, csv, filter, hasHotels }),
      renderLargeObject({
        cases: async function* () {
          yield cases.map(toCaseReport);
        },
      }),
    );
    return exitCode.done;
  });
}

/** With their hotels, nearest check-in first. */
export async function findCases(
  ledger: Pick<ReadOnlyCaseLedger, 'cases' | 'mappings' | 'hotels'>,
  filter: CaseFilter,
): Promise<readonly ListedCase[]> {
  const found = await ledger.cases.list(filter);
  const cases: ListedCase[] = [];
  for (let from = 0; from < found.length; from += hotelsPerLookUp) {
    const some = found.slice(from, from + hotelsPerLookUp);
    const compared = await compareCases(ledger, some);
    cases.push(...some.map((item, index) => ({ ...item, ...(compared[index] ?? nothingKnown) })));
  }
  return cases.sort(byCheckIn);
}

const nothingKnown: Compared = { copyServiceId: null, hotels: unknownPair };

/** The master hotel that the copy has now, and both hotels; at most 1,000 cases. */
export async function compareCases(
  { mappings, hotels }: Pick<ReadOnlyCaseLedger, 'mappings' | 'hotels'>,
  cases: readonly Pick<CaseSummary, 'providerName' | 'providerHotelId' | 'serviceId' | 'firstCheckIn'>[],
): Promise<Compared[]> {
  const copied = await mappings.lookUp(cases);
  const stays = cases.map(({ serviceId, firstCheckIn }, index) => ({
    serviceId,
    copyServiceId: copied[index]?.serviceId ?? null,
    checkInDate: firstCheckIn,
  }));
  const pairs = await createHotelComparer({ hotels, clock })(stays);
  return stays.map(({ copyServiceId }, index) => ({ copyServiceId, hotels: pairs[index] ?? unknownPair }));
}

function describeFilter({ state, provider, checkInBefore }: CasesOptions): string {
  return [
    state === undefined ? ' with open bookings' : ` in the state ${state}`,
    provider === undefined ? '' : ` of ${provider}`,
    checkInBefore === undefined ? '' : ` and a check-in before ${checkInBefore}`,
  ].join('');
}
