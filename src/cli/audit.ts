import type { RecordedAction } from '../review/audit.js';
import { formatCountOf, formatInstant } from '../text/format.js';
import { renderTable } from '../text/tables.js';

/** Entries that a terminal shows. */
export const shown = 200;

interface Audit {
  /** The time in words, for example "from 2026-11-01". */
  readonly time: string;
  readonly count: number;
  /** The last entries. */
  readonly actions: readonly RecordedAction[];
}

export function renderAudit({ time, count, actions }: Audit): string {
  if (count === 0) return `The audit trail has no entry${time}.\n`;
  const rows = actions.map(({ at, who, action, subject, details }) => [
    formatInstant(at),
    who,
    action,
    subject ?? '',
    renderDetails(details),
  ]);
  const left = count - actions.length;
  return [
    `Audit trail${time}: ${formatCountOf(count, 'action')}`,
    renderTable(rows, ['when', 'who', 'action', 'subject', 'details']),
    ...(left > 0
      ? [`The ${actions.length} latest are shown; --json prints all, --from and --to choose.`]
      : []),
    '',
  ].join('\n');
}

function renderDetails(details: RecordedAction['details'] = {}): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');
}
