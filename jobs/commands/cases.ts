import { formatCount, formatCountOf } from '../../src/base/format.js';
import { renderTable } from '../../src/base/tables.js';
import { toExtraCells } from '../../src/booking/extra-values.js';
import {
  caseToCells,
  caseToJson,
  findCases,
  type ListedCase,
  listCaseColumns,
  nameCheckIn,
  withExtra,
} from '../../src/cases/shown-cases.js';
import { adviseLoad, explainCopies, nameCopy } from '../../src/mappings/copied-hotels.js';
import { renderPair } from '../../src/mappings/hotels/shown-hotels.js';
import { mappingStates } from '../../src/rules/case.js';
import { clock } from '../clock.js';
import { bareFlag, command, csvOptions, dayOption, option } from '../command.js';

/** Rows shown on a terminal; `--csv` and `--json` list all. */
const shown = 100;

const head = ['case', 'check-in', 'mapping', 'open', 'provider', 'hotel id', 'booked', 'copy', 'found by'];

/** Lists the cases with open bookings, or those asked for, guests in house first. */
export default command({
  place: ['common', 8],
  summary: 'list wrong or doubtful mappings with open bookings, guests in house first',
  options: {
    state: option('--state <state>', 'only mappings in this state', { choices: mappingStates }),
    checkInBefore: dayOption(
      '--check-in-before <day>',
      'only cases with an open booking that checks in before this day',
    ),
    provider: option('--provider <name>', 'only mappings of this provider'),
    left: bareFlag('--left', 'only cases with bookings that nobody resolved before the guests left'),
    ...csvOptions,
  },
  examples: `
Without --state it lists every case with an open booking, even if its mapping is
corrected: a correction does not change bookings made before.

Examples:
  hotel-review cases
  hotel-review cases --check-in-before 2026-12-01 --csv urgent.csv
  hotel-review cases --state escalated --provider hotelbeds`,

  async run(app, { csv, delimiter, force, ...asked }) {
    const ledger = await app.findLedger();
    if (!ledger) return app.answerNone({ cases: [] });
    const labels = Object.keys(app.config.source.keep);
    const today = app.today();
    const found = await findCases(ledger, { ...asked, today }, clock());
    const cases = await withExtra(ledger, found, labels, today);
    const details = { found: cases.length, state: asked.state, csv: csv && app.locate(csv) };
    await app.look({ action: 'cases', details });
    await app.writeCsv({ csv, delimiter, force }, listCaseColumns(labels), (add) =>
      add(cases.map(caseToCells)),
    );

    const json = {
      cases: async function* () {
        yield cases.map(caseToJson);
      },
    };
    const filter = describeFilter(asked);
    if (cases.length === 0) return app.answerLarge(`No cases${filter}.`, json);
    const open = cases.reduce((sum, { openBookings }) => sum + openBookings, 0);
    const hasHotels = (await ledger.hotels.latestLoad()) !== undefined;
    const first = cases.slice(0, shown);
    const text = [
      `${formatCountOf(cases.length, 'case')}${filter}, ${formatCountOf(open, 'open booking')}:`,
      renderRows(first, labels, hasHotels),
      cases.length > shown && `  … and ${formatCount(cases.length - shown)} more; --csv FILE lists all`,
      explainCopies(first),
      !hasHotels && adviseLoad(app.command),
      csv !== undefined && `All of them are in ${csv}.`,
      `For one of them: ${app.command('case ID')}`,
    ];
    return app.answerLarge(text, json);
  },
});

function describeFilter(asked: {
  readonly state: string | undefined;
  readonly provider: string | undefined;
  readonly checkInBefore: string | undefined;
  readonly left: true | undefined;
}): string {
  const { state, provider, checkInBefore, left } = asked;
  return [
    state === undefined ? (left ? '' : ' with open bookings') : ` in the state ${state}`,
    left ? ' with bookings that nobody resolved before the guests left' : '',
    provider === undefined ? '' : ` of ${provider}`,
    checkInBefore === undefined ? '' : ` and a check-in before ${checkInBefore}`,
  ].join('');
}

function renderRows(cases: readonly ListedCase[], labels: readonly string[], hasHotels: boolean): string[] {
  const cells = cases.map((item) => [...toRow(item), ...toExtraCells(labels, item.extraValues)]);
  const [title = '', ...rows] = renderTable(cells, [...head, ...labels]).split('\n');
  if (!hasHotels) return [title, ...rows];
  return [title, ...cases.flatMap((item, index) => [rows[index] ?? '', ...renderPair(item.hotels, item)])];
}

function toRow(item: ListedCase): (string | number)[] {
  const { id, state, openBookings, bookings, leftBookings, providerName, providerHotelId, origins } = item;
  const next = openBookings > 0 ? nameCheckIn(item) : leftBookings > 0 ? 'left' : '-';
  return [
    ...[id, next, state, `${openBookings} of ${bookings}`, providerName, providerHotelId],
    ...[item.serviceId, nameCopy(item, '-'), origins.join(', ')],
  ];
}
