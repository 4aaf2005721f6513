import type { RejectedRecord } from '../report/rejected.js';
import type { Run } from '../review/run.js';
import { formatCount, wrapText } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from './tables.js';

/** Rejects listed on a terminal; `--csv` writes more. */
const shown = 50;
/** Characters of a value that a table shows. */
const valueShown = 40;

interface RejectedDay {
  readonly day: string;
  readonly run: Run;
  readonly rejected: readonly RejectedRecord[];
  /** Rejects that were counted but not kept. */
  readonly more: number;
  /** What `place` counts in the source, for example "line". */
  readonly placeUnit: string;
}

/** The rejected records of a day's latest run. */
export function renderRejected(
  { day, run, rejected, more, placeUnit }: RejectedDay,
  { command, csv }: { readonly command: WriteCommand; readonly csv?: string | undefined },
): string {
  const { id, state, counts } = run;
  const soFar = state === 'collecting' ? ' so far' : '';
  if (counts.rejected === 0) return `${day}: run ${id} rejected no record${soFar}.\n`;
  if (rejected.length === 0)
    return `${day}: rejected records: ${formatCount(counts.rejected)}, no longer listed in the ledger (run ${id})\n`;
  const rows = rejected
    .slice(0, shown)
    .map(({ place, reason, reference, field, value }) => [
      formatCount(place),
      reason,
      reference ?? '',
      field ?? '',
      cut(value ?? ''),
    ]);
  const isCut = rejected.length > shown;
  const list = `rejected ${day} --csv FILE`;
  return [
    `${day}: rejected records${soFar}: ${formatCount(counts.rejected)} (run ${id})`,
    renderTable(rows, [placeUnit, 'reason', 'reference', 'field', 'value']),
    ...(isCut ? [`  … ${formatCount(rejected.length - shown)} more: ${command(list)}`] : []),
    ...(more > 0
      ? wrapText(
          `… and ${formatCount(more)} more: the ledger lists the first ${formatCount(rejected.length)} of a run and counts the others.`,
        )
      : []),
    ...(csv === undefined ? [] : [`${more > 0 ? 'The listed ones' : 'All of them'} are in ${csv}.`]),
    '',
  ].join('\n');
}

function cut(value: string): string {
  const characters = [...value];
  return characters.length > valueShown ? `${characters.slice(0, valueShown - 1).join('')}…` : value;
}
