import { createHash } from 'node:crypto';
import type { Case } from '../cases/case.js';
import { neverSynced } from '../mappings/copied-hotels.js';
import { describeMapping } from '../mappings/describe-mapping.js';
import { mappingToJson } from '../mappings/mapping-copy.js';
import { toHistory, toHistoryReport } from '../report/booking-history.js';
import type { Checksum, Evidence, MappingEvidence, RunEvidence } from '../review/evidence/gather-evidence.js';
import { formatCountOf } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { showInLine } from '../text/visible.js';
import { renderHistories } from './booking-history.js';

export interface EvidenceFile {
  /** Including the folder of its run. */
  readonly name: string;
  readonly content: Buffer;
}

interface EvidenceCircumstances {
  readonly reference: string;
  /** ISO 8601 */
  readonly at: string;
  /** Name and version of this program. */
  readonly tool: string;
  readonly cases: readonly Case[];
  readonly command: WriteCommand;
}

/** The content of the ZIP: a folder for each run, and an index as text and as JSON. */
export function renderEvidence(evidence: Evidence, circumstances: EvidenceCircumstances): EvidenceFile[] {
  const inRuns = evidence.runs.flatMap(renderRun);
  const files = inRuns.map(({ name, content }) => ({
    name,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  }));
  const index = {
    reference: circumstances.reference,
    writtenAt: circumstances.at,
    tool: circumstances.tool,
    runs: evidence.runs.map((run) => ({ folder: folderOf(run), ...describeRun(run) })),
    mappings: evidence.mappings.map(toMapping),
    cases: circumstances.cases.map(toCase),
    files,
  };
  return [
    { name: 'index.txt', content: Buffer.from(renderIndex(evidence, files, circumstances)) },
    { name: 'index.json', content: toJson(index) },
    ...inRuns,
  ];
}

const folderOf = ({ run }: RunEvidence) => `${run.day}_${run.id}`;
const toJson = (value: unknown) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

function renderRun(evidence: RunEvidence): EvidenceFile[] {
  const folder = folderOf(evidence);
  const { traces, rows, manifest } = evidence;
  const lines = traces.flatMap((trace) => (trace.kind === 'booking' ? [trace] : []));
  return [
    ...lines.map(({ line, form }, index) => ({
      // Exactly the bytes in the request body or the file.
      name: `${folder}/sent-${index + 1}.${form === 'file' ? 'csv' : 'json'}`,
      content: Buffer.from(line),
    })),
    { name: `${folder}/history.json`, content: toJson(describeRun(evidence)) },
    ...(rows.length > 0 ? [{ name: `${folder}/rows.json`, content: toJson(rows) }] : []),
    ...(manifest ? [{ name: `${folder}/manifest.json`, content: manifest }] : []),
  ];
}

function describeRun({ run, traces, checksums }: RunEvidence) {
  const toInstant = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
  return {
    runId: run.id,
    day: run.day,
    delivery: run.delivery,
    trigger: run.trigger,
    state: run.state,
    startedAt: toInstant(run.startedAt),
    collectedAt: toInstant(run.collectedAt),
    finishedAt: toInstant(run.finishedAt),
    namesRemovedAt: toInstant(run.namesBlankedAt),
    remotePath: run.file?.remotePath ?? null,
    checksums,
    bookings: traces.map((trace) => toHistoryReport(toHistory(trace, { withAnswers: true }))),
  };
}

function toMapping({ copied, isSynced, ...pair }: MappingEvidence) {
  return copied
    ? mappingToJson(copied.mapping, copied.moves)
    : {
        ...{ ...pair, serviceId: null, copy: isSynced ? 'unmapped' : 'never-synced' },
        ...{ firstSeenAt: null, history: [] },
      };
}

function toCase({ id, state, origins, providerName, providerHotelId, serviceId, openedAt }: Case) {
  return {
    ...{ id, state, origins, providerName, providerHotelId, serviceId },
    openedAt: new Date(openedAt).toISOString(),
  };
}

function renderIndex(
  { runs, mappings }: Evidence,
  files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[],
  { reference, at, tool, cases, command }: EvidenceCircumstances,
): string {
  const histories = runs.flatMap(({ traces }) =>
    traces.map((trace) => toHistory(trace, { withAnswers: false })),
  );
  return [
    `Evidence on the booking ${showInLine(reference)}`,
    `written at ${at} by ${tool}`,
    '',
    'sent-N.json or sent-N.csv is the booking as it was sent, byte for byte, with the guest’s name where that is',
    'still kept: in the request body (json) or as a row of the file on the SFTP server (csv). history.json has each',
    'attempt and the verdict, rows.json the rows about the booking in the day’s file and in the result, with their',
    'lines. Times are in UTC.',
    '',
    `${formatCountOf(runs.length, 'run')}:`,
    '',
    renderHistories(reference, histories, command, { showsHotels: false }),
    ...runs.flatMap(renderRows),
    'The mapping, as the local copy saw it:',
    ...mappings.map(renderMappingHistory),
    ...(mappings.length === 0 ? ['  the booking names no hotel of a provider'] : []),
    '',
    ...cases.map(
      ({ id, state, origins, openedAt }) =>
        `Case ${id}: ${state}, found by ${origins.join(', ')}, opened at ${new Date(openedAt).toISOString()}`,
    ),
    ...(cases.length > 0 ? [''] : []),
    'Checksums of these files (SHA-256):',
    ...files.map(({ name, sha256 }) => `${sha256}  ${name}`),
    '',
  ].join('\n');
}

function renderMappingHistory({ copied, isSynced, providerName, providerHotelId }: MappingEvidence): string {
  if (copied) return describeMapping(copied.mapping, copied.moves).join('\n');
  const name = `  ${showInLine(providerName)} ${showInLine(providerHotelId)}`;
  return isSynced ? `${name} is not in the local copy` : `${name}: ${neverSynced}`;
}

function renderRows({ run, rows, checksums }: RunEvidence): string[] {
  const lines = [
    ...rows.map(
      ({ place, name, records }) =>
        `  ${showInLine(name)} (${place}): ${formatCountOf(records.length, 'row')}, line ${records.map(({ line }) => line).join(', ')}`,
    ),
    ...checksums.map((sum) => `  ${showInLine(sum.name)}: ${describeSum(sum)}`),
  ];
  return lines.length === 0 ? [] : [`Files of run ${run.id}:`, ...lines, ''];
}

function describeSum({ recorded, archived, afterErasures }: Checksum): string {
  const expected = afterErasures ?? recorded;
  const note = afterErasures === undefined ? '' : `, changed since by erasing guests to ${afterErasures}`;
  if (recorded === undefined) return `sha256 ${archived}`;
  if (archived === undefined) return `sha256 ${recorded} as recorded; no longer in the archive${note}`;
  return archived === expected
    ? `sha256 ${recorded}, and the archive holds the same${note}`
    : `sha256 ${recorded} as recorded${note}, but the archive holds ${archived}`;
}
