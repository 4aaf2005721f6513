import { codeOf } from '../src/base/safe-error.js';
import { UsageError } from '../src/base/usage-error.js';
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
    init: [
      '',
      'ask a few questions, and write a commented configuration and a .env for its secrets',
      () => import('./commands/init.js'),
    ],
    doctor: [
      '[day]',
      'check configuration, source, service, SFTP and disk, and say what to fix',
      () => import('./commands/doctor.js'),
    ],
    run: [
      '[day]',
      'review a business day, or resume one that was interrupted',
      () => import('./commands/run.js'),
    ],
    replay: [
      '[day]',
      'review a day or a range of days again, or only what is missing',
      () => import('./commands/replay.js'),
    ],
    status: ['[day]', 'list the days and their runs, or show one day', () => import('./commands/status.js')],
    show: [
      '[booking-reference]',
      "show a booking's history: when it was sent, in which step and with what verdict",
      () => import('./commands/show.js'),
    ],
    affected: [
      '[day]',
      "list a day's bookings whose mapping is incorrect, guests in house first",
      () => import('./commands/affected.js'),
    ],
    cases: [
      '',
      'list wrong or doubtful mappings with open bookings, guests in house first',
      () => import('./commands/cases.js'),
    ],
    serve: [
      '',
      'run the nightly schedule, answer the end-of-day hook, serve the desk',
      () => import('./commands/serve.js'),
    ],
    sandbox: [
      '[command]',
      'run a stand-in for the mapping service on this machine: HTTP, SFTP and an e-mail outbox',
      () => import('./commands/sandbox.js').catch(explainWithoutSandbox),
    ],
  },
  'Looking back:': {
    rejected: [
      '[day]',
      "list a day's records that could not be sent: where, why, and the value",
      () => import('./commands/rejected.js'),
    ],
    refused: [
      '[day]',
      "list a day's bookings that the service refused, with its code",
      () => import('./commands/refused.js'),
    ],
    posted: [
      '[day]',
      "list a day's bookings that could not be in the file and went by body",
      () => import('./commands/posted.js'),
    ],
    suspects: [
      '[day]',
      "list a day's bookings that the local copy of the mappings flags",
      () => import('./commands/suspects.js'),
    ],
    verify: [
      '[day]',
      "check a day's archive, byte by byte, against the ledger",
      () => import('./commands/verify.js'),
    ],
    report: [
      '[day]',
      'report how a day went: runs, verdicts, open cases, and what is unusual',
      () => import('./commands/report.js'),
    ],
    providers: [
      '',
      'compare the providers: bookings sent, affected, cases, and how soon they were corrected',
      () => import('./commands/providers.js'),
    ],
    evidence: [
      '<reference>',
      'write a ZIP file that proves what was done about a booking',
      () => import('./commands/evidence.js'),
    ],
  },
  'Mappings:': {
    case: [
      '<id> [action...]',
      'show a case, report, dismiss or reopen it, assign it, resolve its bookings',
      () => import('./commands/case.js'),
    ],
    mappings: [
      '[command]',
      "keep a local copy of the account's mappings, and query it",
      () => import('./commands/mappings.js'),
    ],
    hotels: [
      '[command]',
      'manage names, places and phones of master hotels, from the content file of an export',
      () => import('./commands/hotels.js'),
    ],
    brands: ['', "list the service's brands of master hotels", () => import('./commands/brands.js')],
    export: [
      '[command]',
      "request and fetch the service's exports of all mappings",
      () => import('./commands/export.js'),
    ],
    verdicts: [
      '[command]',
      'read and list the e-mails in which the service names incorrect mappings',
      () => import('./commands/verdicts.js'),
    ],
  },
  'Running:': {
    cancel: [
      '[day]',
      "abandon a day's unfinished run; the schedule then leaves that day alone",
      () => import('./commands/cancel.js'),
    ],
    work: [
      '',
      'perform steps of any run from the queue on Redis, until stopped',
      () => import('./commands/work.js'),
    ],
    notify: [
      '[command]',
      'test the channels that tell people what happened',
      () => import('./commands/notify.js'),
    ],
  },
  "Guests' data and access:": {
    guest: ['[command]', 'export or remove the data kept about guests', () => import('./commands/guest.js')],
    privacy: [
      '',
      'print which personal data is kept, where, since when, until when, and who receives it',
      () => import('./commands/privacy.js'),
    ],
    audit: [
      '',
      "list who looked at guests' data or wrote it to a file, when, and which data",
      () => import('./commands/audit.js'),
    ],
    user: [
      '[command]',
      'manage who may use the pages of serve (setting server.users)',
      () => import('./commands/user.js'),
    ],
  },
};

/** Images for production are built without the sandbox. */
function explainWithoutSandbox(error: unknown): never {
  if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
  throw new UsageError(
    'the sandbox is not part of this installation; use the project itself, or an image built with --target=trial',
  );
}
