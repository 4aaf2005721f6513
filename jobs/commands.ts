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
    serve: [
      '',
      'run the nightly schedule, answer the end-of-day hook, serve the desk',
      () => import('./serve.js'),
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
    work: ['', 'perform steps of any run from the queue on Redis, until stopped', () => import('./work.js')],
  },
  "Guests' data and access:": {},
};
