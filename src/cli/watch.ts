import type { CaseMove } from '../cases/case.js';
import type { MoveFinding, WatchReport } from '../cases/watch/watch-mappings.js';
import { formatCount, formatCountOf } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from '../text/tables.js';

/** Rows shown on a terminal; `--json` lists all. */
const findingsShown = 200;

const head = ['case', 'provider', 'hotel id', 'booked as', 'now', 'bookings', 'what happened'];

/** What the watch found. */
export function renderWatch({ counts, findings }: WatchReport, command: WriteCommand): string {
  const { checkedMoves, endangered, bookings, merged, dismissed } = counts;
  if (checkedMoves === 0) return 'No mapping has moved since the last watch.\n';
  const checked = `${formatCountOf(checkedMoves, 'move')} of mappings compared with the current and upcoming stays`;
  const first = findings.slice(0, findingsShown);
  return [
    endangered === 0
      ? `${checked}: no booking is in danger.`
      : `${checked}: ${formatCountOf(bookings, 'booking')} may lead to another hotel.`,
    ...(findings.length === 0 ? [] : [renderTable(first.map(toRow), head)]),
    ...(findings.length > first.length
      ? [`  … and ${formatCount(findings.length - first.length)} more; --json lists all`]
      : []),
    ...(merged === 0 ? [] : ['In a merge, two numbers of one hotel became one: these bookings get no case.']),
    ...(dismissed === 0
      ? []
      : [`${formatCountOf(dismissed, 'case')} dismissed: the moves were the first of a merge.`]),
    ...(endangered === 0 ? [] : [`The history of a mapping: ${command('mappings show PROVIDER HOTEL_ID')}`]),
    '',
  ].join('\n');
}

function toRow({
  caseId,
  providerName,
  providerHotelId,
  serviceId,
  copyServiceId,
  bookings,
  move,
}: MoveFinding) {
  return [
    caseId ?? '-',
    providerName,
    providerHotelId,
    serviceId,
    copyServiceId ?? '-',
    bookings,
    describeMove(move),
  ];
}

function describeMove(move: CaseMove): string {
  switch (move) {
    case 're-pointed':
      return 're-pointed to another master hotel';
    case 'unmapped':
      return 'its mapping was deleted';
    case 'merged':
      return 'its master hotel was merged';
  }
}
