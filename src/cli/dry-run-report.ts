import type { KeptValues } from '../booking/kept-values.js';
import { adviseOnUnconfirmed, describeUnconfirmed, type Unconfirmed } from '../examination/unconfirmed.js';
import type { ReasonCount } from '../review/collected.js';
import type { SuspectsReport } from '../review/day/report.js';
import type { Counts } from '../review/run.js';
import { explainSuspects } from '../review/suspects/listing.js';
import { formatCount, wrapText } from '../text/format.js';
import { renderTable } from '../text/tables.js';
import { renderReasons } from './run-summary.js';

/** The result of a dry run, as `--dry-run --json` prints it. */
export interface DryRunReport {
  readonly day: string;
  readonly source?: string | undefined;
  readonly counts: Counts;
  /** Absent without a local copy of the mappings to compare with. */
  readonly suspects?: SuspectsReport;
  readonly rejects: readonly ReasonCount[];
  readonly warnings: readonly ReasonCount[];
  /** Absent if no record looks cancelled by a column that nothing uses. */
  readonly unconfirmed?: Unconfirmed;
  /** Null if there would be no file; absent if the day could not be collected. */
  readonly file?: {
    readonly name: string;
    readonly rows: number;
    readonly bytes: number;
    readonly sha256: string;
  } | null;
  /** Absent if the day could not be collected. */
  readonly batches?: number;
  readonly bytes?: number;
  /** Of all bodies, concatenated. */
  readonly sha256?: string;
  /** The first bookings as they would be sent, with names masked. */
  readonly sample?: readonly Record<string, unknown>[];
  /** The kept columns of each; absent without `source.keep`. */
  readonly sampleKept?: readonly (KeptValues | null)[];
  readonly error?: { readonly message: string };
}

export function renderDryRun(report: DryRunReport, placeUnit: string, out: string | undefined): string {
  const {
    day,
    source,
    counts,
    suspects,
    rejects,
    warnings,
    unconfirmed,
    batches = 0,
    bytes = 0,
    sha256,
    sample = [],
    sampleKept = [],
    file,
    error,
  } = report;
  const { read, accepted, duplicates, rejected, filtered } = counts;
  const result = error
    ? ['The run would fail before anything is sent:', ...wrapText(error.message)]
    : [
        ...(file ? renderSums(`file ${file.name}`, { rows: file.rows, bytes: file.bytes }, file.sha256) : []),
        ...(file && batches === 0 ? [] : renderSums('bodies', { batches, bytes }, sha256)),
        ...(sample.length > 0 ? ['the first bookings, names masked:'] : []),
        ...sample.map((item) => `  ${JSON.stringify(item)}`),
        ...(sampleKept.length > 0 ? ['kept with them, not sent (source.keep):'] : []),
        ...sampleKept.map((kept) => `  ${JSON.stringify(kept ?? {})}`),
        ...(out === undefined ? [] : [`Everything is in ${out}; it holds guest names.`]),
      ];
  const sections = [
    `${day}: dry run; nothing was sent`,
    ...(source === undefined ? [] : [`source: ${source}`]),
    renderTable(
      Object.entries({ read, accepted, duplicates, rejected, ...(filtered > 0 && { filtered }) }).map(
        ([name, count]) => [name, formatCount(count)],
      ),
    ),
    ...(suspects ? renderSuspects(suspects.bookings) : []),
    ...renderReasons('rejected, by reason', rejects, placeUnit),
    ...renderReasons('warnings', warnings, placeUnit),
    ...(unconfirmed ? renderUnconfirmed(unconfirmed) : []),
    ...result,
  ];
  return `${sections.join('\n')}\n`;
}

function renderUnconfirmed(found: Unconfirmed): string[] {
  const columns = describeUnconfirmed(found).split('\n');
  return [
    'unconfirmed bookings:',
    ...[...columns, adviseOnUnconfirmed(found)].flatMap((line) => wrapText(line)),
  ];
}

function renderSuspects(suspects: number): string[] {
  return suspects > 0 ? ['what the local copy of the mappings says:', explainSuspects(suspects)] : [];
}

function renderSums(
  title: string,
  counts: Readonly<Record<string, number>>,
  sha256: string | undefined,
): string[] {
  const rows = Object.entries(counts).map(([name, count]) => [name, formatCount(count)]);
  return [`${title}:`, renderTable(rows), `  sha256 ${sha256}`];
}
