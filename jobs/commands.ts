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
    status: ['[day]', 'list the days and their runs, or show one day', () => import('./status.js')],
    show: [
      '[booking-reference]',
      "show a booking's history: when it was sent, in which step and with what verdict",
      () => import('./show.js'),
    ],
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
    verify: ['[day]', "check a day's archive, byte by byte, against the ledger", () => import('./verify.js')],
    report: [
      '[day]',
      'report how a day went: runs, verdicts, open cases, and what is unusual',
      () => import('./report.js'),
    ],
    evidence: [
      '<reference>',
      'write a ZIP file that proves what was done about a booking',
      () => import('./evidence.js'),
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
    work: ['', 'perform steps of any run from the queue on Redis, until stopped', () => import('./work.js')],
    hook: [
      '[day]',
      'print a signed curl command that calls the end-of-day hook, to try it',
      () => import('./hook.js'),
    ],
    notify: ['[command]', 'test the channels that tell people what happened', () => import('./notify.js')],
  },
  "Guests' data and access:": {
    guest: ['[command]', 'export or remove the data kept about guests', () => import('./guest.js')],
    privacy: [
      '',
      'print which personal data is kept, where, since when, until when, and who receives it',
      () => import('./privacy.js'),
    ],
    keys: [
      '[command]',
      "manage the keys that encrypt guests' names (setting keys)",
      () => import('./keys.js'),
    ],
    user: [
      '[command]',
      'manage who may use the pages of serve (setting server.users)',
      () => import('./user.js'),
    ],
  },
};
