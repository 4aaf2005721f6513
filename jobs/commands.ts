import type { AnyCommand } from './command.js';

type Load = () => Promise<{ readonly default: AnyCommand }>;

/**
 * All commands in the order of the help, by its headings: what each takes, what it does, and where it is. A file is loaded only
 * when its command is named.
 */
export const commands: Readonly<
  Record<string, Readonly<Record<string, readonly [usage: string, summary: string, Load]>>>
> = {
  'The ten that you need:': {},
  'Looking back:': {
    rejected: [
      '[day]',
      "list a day's records that could not be sent: where, why, and the value",
      () => import('./rejected.js'),
    ],
  },
  'Mappings:': {
    mappings: [
      '[command]',
      "keep a local copy of the account's mappings, and query it",
      () => import('./mappings.js'),
    ],
    hotels: [
      '[command]',
      'manage names, places and phones of master hotels, from the content file of an export',
      () => import('./hotels.js'),
    ],
    export: [
      '[command]',
      "request, fetch and compare the service's exports of all mappings",
      () => import('./export.js'),
    ],
    verdicts: [
      '[command]',
      'read and list the e-mails in which the service names incorrect mappings',
      () => import('./verdicts.js'),
    ],
  },
  'Running:': {
    hook: [
      '[day]',
      'print a signed curl command that calls the end-of-day hook, to try it',
      () => import('./hook.js'),
    ],
    notify: ['[command]', 'test the channels that tell people what happened', () => import('./notify.js')],
  },
  "Guests' data and access:": {},
};
