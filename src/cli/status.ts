import type { Run } from '../review/run.js';
import { formatCount, formatInstant } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from './tables.js';

/** One line a run, for `status` without a day, within 80 columns. */
export function renderStatus(runs: readonly Run[], command: WriteCommand): string {
  if (runs.length === 0) return `No runs yet. The first one: ${command('run')}\n`;
  const rows = runs.map((run) => [
    run.day,
    `${run.state}${run.topsUp ? ' +' : ''}`,
    formatCount(run.counts.delivered),
    formatCount(run.counts.pending),
    formatCount(run.counts.refused),
    formatCount(run.counts.rejected),
    formatInstant(run.startedAt),
  ]);
  const head = ['day', 'state', 'delivered', 'pending', 'refused', 'rejected', 'started'];
  const late = runs.some(({ topsUp }) => topsUp)
    ? `  + late bookings: only what the runs before it had not delivered\n`
    : '';
  return `${renderTable(rows, head)}\n${late}`;
}
