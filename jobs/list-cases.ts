import { businessDayAt } from '../src/booking/business-day.js';
import type { CaseFilter, CaseSummary, ReadOnlyCaseLedger } from '../src/cases/case-store.js';
import {
  type Compared,
  type ListedCase,
  listCaseColumns,
  orderCases,
  renderCases,
  toCaseCells,
  toCaseReport,
} from '../src/cli/cases.js';
import type { CasesOptions } from '../src/cli/commands/cases.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderLargeObject } from '../src/cli/json-stream.js';
import { readShownKept, type ShownKept } from '../src/cli/kept-columns.js';
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
  const shownKept = readShownKept(config.source.keep, options.sort);
  const keptLabels = shownKept.labels;
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { cases: [] });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const today = businessDayAt(new Date(clock()), config.timezone).iso;
    const cases = await findCases(ledger, { state, provider, checkInBefore, today }, shownKept);
    const details = { found: cases.length, state, csv: csv && terminal.locate(csv) };
    await recordLook(ledger, { action: 'cases', details }, terminal);
    if (csv !== undefined) {
      const file = await createCsvFile(listCaseColumns(keptLabels), csv, terminal.locate(csv), delimiter);
      try {
        await file.add(cases.map(toCaseCells));
      } finally {
        await file.finish();
      }
    }
    const hasHotels = (await ledger.hotels.latestLoad()) !== undefined;
    const filter = describeFilter(options);
    await terminal.answerInPieces(
      renderCases(cases, { command: terminal.command, csv, filter, hasHotels, keptLabels }),
      renderLargeObject({
        cases: async function* () {
          yield cases.map(toCaseReport);
        },
      }),
    );
    return exitCode.done;
  });
}

/** With their hotels and, if there are any, kept columns; nearest check-in first, or in the order asked for. */
export async function findCases(
  ledger: Pick<ReadOnlyCaseLedger, 'cases' | 'mappings' | 'hotels' | 'findKeptValues'>,
  filter: CaseFilter,
  { labels, order }: ShownKept = { labels: [] },
): Promise<readonly ListedCase[]> {
  const found = await ledger.cases.list(filter);
  const cases: ListedCase[] = [];
  for (let from = 0; from < found.length; from += hotelsPerLookUp) {
    const some = found.slice(from, from + hotelsPerLookUp);
    const compared = await compareCases(ledger, some);
    cases.push(...some.map((item, index) => ({ ...item, ...(compared[index] ?? nothingKnown) })));
  }
  return orderCases(labels.length > 0 ? await withKept(ledger, cases, filter.today) : cases, order);
}

/** What a row shows is about the guest who checks in next. */
async function withKept(
  ledger: Pick<ReadOnlyCaseLedger, 'cases' | 'findKeptValues'>,
  cases: readonly ListedCase[],
  today: string,
): Promise<ListedCase[]> {
  const references = new Map<number, string>();
  for (let from = 0; from < cases.length; from += hotelsPerLookUp) {
    const ids = cases.slice(from, from + hotelsPerLookUp).map(({ id }) => id);
    for (const [id, reference] of await ledger.cases.findNextReferences(ids, today))
      references.set(id, reference);
  }
  const kept = await ledger.findKeptValues([...new Set(references.values())]);
  return cases.map((item) => ({ ...item, kept: kept.get(references.get(item.id) ?? '') }));
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
