import type { ProviderScore } from '../scorecard/scorecard.js';
import { wilsonInterval } from '../scorecard/wilson.js';
import { formatCount, formatCountOf } from '../text/format.js';
import { showInLine } from '../text/visible.js';
import { renderTable } from './tables.js';

/** A provider as `providers --json` prints it. Unknown is null, never 0. */
export interface ProviderReport
  extends Pick<
    ProviderScore,
    'providerName' | 'sent' | 'known' | 'byEmail' | 'namedByEmail' | 'cases' | 'corrected'
  > {
  readonly affected: number | null;
  readonly affectedShare: number | null;
  /** The 95 % interval of that share, after Wilson. */
  readonly affectedShareLow: number | null;
  readonly affectedShareHigh: number | null;
  readonly medianHoursToCorrection: number | null;
  readonly suspects: { readonly flagged: number; readonly known: number; readonly incorrect: number | null };
  readonly repeatOffenders: ProviderScore['repeatOffenders'];
}

export function toProviderReport(score: ProviderScore): ProviderReport {
  const { providerName, sent, known, affected, byEmail, namedByEmail, suspects, cases, corrected } = score;
  const interval = wilsonInterval(affected, known);
  return {
    providerName,
    sent,
    known,
    affected: interval ? affected : null,
    affectedShare: interval ? round(affected / known) : null,
    affectedShareLow: interval ? round(interval.low) : null,
    affectedShareHigh: interval ? round(interval.high) : null,
    byEmail,
    namedByEmail,
    suspects: { ...suspects, incorrect: suspects.known === 0 ? null : suspects.incorrect },
    cases,
    corrected,
    medianHoursToCorrection:
      score.medianHoursToCorrection === null ? null : Number(score.medianHoursToCorrection.toFixed(1)),
    repeatOffenders: score.repeatOffenders,
  };
}

const round = (share: number) => Number(share.toFixed(6));

/** The surest offender first: by the lower end of the interval; those without a known verdict last. */
export function orderProviders(reports: readonly ProviderReport[]): ProviderReport[] {
  return reports.toSorted(
    (a, b) => (b.affectedShareLow ?? -1) - (a.affectedShareLow ?? -1) || b.sent - a.sent,
  );
}

/** Why no verdict is known: never "0 %". */
function nameUnknown({ sent, byEmail }: ProviderReport): string {
  if (sent === 0) return '-';
  return byEmail === sent ? 'by e-mail' : 'no result';
}

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

/** A provider under those columns; what is unknown says why. */
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
