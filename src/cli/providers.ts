import { nameUnknown, type ProviderReport } from '../report/providers.js';
import { formatCount, formatCountOf } from '../text/format.js';
import { renderTable } from '../text/tables.js';
import { showInLine } from '../text/visible.js';

const formatPercent = (share: number | null) => ((share ?? 0) * 100).toFixed(2);
const nameOf = ({ providerName }: ProviderReport) => providerName ?? '(none)';

export function renderProviders(
  { from, to }: { readonly from: string; readonly to: string },
  reports: readonly ProviderReport[],
  csv: string | undefined,
): string {
  if (reports.length === 0) return `${from} to ${to}: no booking was sent.\n`;
  const rows = reports.map((report) => [
    nameOf(report),
    formatCount(report.sent),
    formatCount(report.known),
    report.affected === null ? nameUnknown(report) : formatCount(report.affected),
    report.affected === null
      ? '-'
      : `${formatPercent(report.affectedShare)} (${formatPercent(report.affectedShareLow)} to ${formatPercent(report.affectedShareHigh)})`,
    report.namedByEmail === 0 ? '-' : formatCount(report.namedByEmail),
    formatCount(report.cases),
    report.medianHoursToCorrection === null ? '-' : String(report.medianHoursToCorrection),
    report.suspects.incorrect === null ? '-' : `${report.suspects.incorrect} of ${report.suspects.known}`,
  ]);
  const head = ['provider', 'sent', 'verdict', 'affected', '% (95 %)', 'named', 'cases', 'hours', 'suspects'];
  return [
    `${from} to ${to}:`,
    renderTable(rows, head),
    '  verdict: bookings with a known verdict. affected: of these, the incorrect ones, and',
    '  between which percentages their share lies, with 95 % certainty. named: without a',
    '  verdict, but named as incorrect by an e-mail. hours: median, from opening a case to',
    '  its correction. suspects: those that were right, of those judged.',
    ...renderOffenders(reports),
    ...(csv === undefined ? [] : [`All of this is in ${csv}.`]),
    '',
  ].join('\n');
}

function renderOffenders(reports: readonly ProviderReport[]): string[] {
  const rows = reports.flatMap((report) =>
    report.repeatOffenders.map(({ providerHotelId, cases, days }) => [
      nameOf(report),
      providerHotelId,
      formatCountOf(days, 'day'),
      formatCountOf(cases, 'case'),
    ]),
  );
  if (rows.length === 0) return [];
  return ['affected on several days, or with several cases:', renderTable(rows)];
}

export const providerColumns = [
  ...['providerName', 'sent', 'known', 'affected', 'affectedShare', 'affectedShareLow', 'affectedShareHigh'],
  ...['byEmail', 'namedByEmail', 'cases', 'corrected', 'medianHoursToCorrection'],
  ...['suspectsFlagged', 'suspectsKnown', 'suspectsIncorrect', 'repeatOffenders'],
];

/** A provider under those columns; unknown values say why. */
export function toProviderCells({ suspects, repeatOffenders, ...report }: ProviderReport): object {
  return {
    ...report,
    affected: report.affected ?? nameUnknown({ ...report, suspects, repeatOffenders }),
    suspectsFlagged: suspects.flagged,
    suspectsKnown: suspects.known,
    suspectsIncorrect: suspects.incorrect,
    repeatOffenders: repeatOffenders.map(({ providerHotelId }) => showInLine(providerHotelId)).join(' '),
  };
}
