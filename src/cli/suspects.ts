import type { Run } from '../review/run.js';
import { formatCountOf } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';

/** The part of a run's summary about its suspects; empty if there are none. */
export function renderSuspectSummary({ day, suspects }: Run, command: WriteCommand): string[] {
  if (!suspects) return [];
  return [
    'what the local copy of the mappings says:',
    explainSuspects(suspects),
    `  all of them: ${command(`suspects ${day}`)}`,
  ];
}

/** What stands above the suspects of a day: how many, or why none are known. */
export function renderSuspectHead(
  day: string,
  run: Run | undefined,
  count: number,
  command: WriteCommand,
): string {
  if (!run) return `There is no run of ${day}.`;
  if (run.suspects === undefined)
    return [
      `${day} was not compared with the local copy of the mappings, which was empty`,
      `when run ${run.id} started. To fill it: ${command('mappings sync')}`,
    ].join('\n');
  if (count === 0) return `${day}: the local copy of the mappings flags no booking (run ${run.id}).`;
  return [`${day}: what the local copy of the mappings says (run ${run.id}):`, explainSuspects(count)].join(
    '\n',
  );
}

/** The number of flagged bookings. */
export function explainSuspects(suspects: number): string {
  return `  suspects: ${formatCountOf(suspects, 'booking')} whose mapping differs or changed recently`;
}
