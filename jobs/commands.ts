import type { AnyCommand } from './command.js';

type Load = () => Promise<{ readonly default: AnyCommand }>;

/**
 * All commands in the order of the help, by its headings: what each takes, what it does, and where it is. A file is loaded only
 * when its command is named.
 */
export const commands: Readonly<
  Record<string, Readonly<Record<string, readonly [usage: string, summary: string, Load]>>>
> = {
  'The ten that you need:': {
    run: ['[day]', 'review a business day, or resume one that was interrupted', () => import('./run.js')],
    replay: [
      '[day]',
      'review a day or a range of days again, or only what is missing',
      () => import('./replay.js'),
    ],
  },
  'Looking back:': {
    rejected: [
      '[day]',
      "list a day's records that could not be sent: where, why, and the value",
      () => import('./rejected.js'),
    ],
  },
  'Mappings:': {},
  'Running:': {
    cancel: [
      '[day]',
      "abandon a day's unfinished run; the schedule then leaves that day alone",
      () => import('./cancel.js'),
    ],
  },
  "Guests' data and access:": {},
};
