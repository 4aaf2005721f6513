import type { AnyCommand } from './command.js';

/** What the help lists below its headings: each command, what it takes, and what it does. Written by `npm run docs`. */
export const listed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Common commands:': {
    'init [file]': "examine a day's export, and write a commented configuration and a .env for its secrets",
    'doctor [day]': 'check configuration, source, service, SFTP and disk, and say what to fix',
    'run [day]': 'review a business day, or resume one that was interrupted',
    'replay [day]': 'review a day or a range of days again, or only what is missing',
    'status [day]': 'list the days and their runs, or show one day',
    'show [booking-reference]':
      "show a booking's history: when it was sent, in which step and with what verdict",
    'affected [day]': "list a day's bookings whose mapping is incorrect, guests in house first",
    cases: 'list wrong or doubtful mappings with open bookings, guests in house first',
    serve: 'run the nightly schedule, answer the end-of-day hook, serve the desk',
    'sandbox [command]':
      'run a stand-in for the mapping service on this machine: HTTP, SFTP and an e-mail outbox',
  },
  'Looking back:': {
    'rejected [day]': "list a day's records that could not be sent: where, why, and the value",
    'refused [day]': "list a day's bookings that the service refused, with its code",
    'posted [day]': "list a day's bookings that could not be in the file and went by body",
    'suspects [day]': "list a day's bookings that the local copy of the mappings flags",
    'verify [day]': "check a day's archive, byte by byte, against the ledger",
    'report [day]': 'report how a day went: runs, verdicts, open cases, and what is unusual',
    providers: 'compare the providers: bookings sent, affected, cases, and how soon they were corrected',
    'evidence <reference>': 'write a ZIP file that proves what was done about a booking',
  },
  'Mappings:': {
    'case <id> [action...]': 'show a case, report, dismiss or reopen it, assign it, resolve its bookings',
    'mappings [command]': "keep a local copy of the account's mappings, and query it",
    'hotels [command]':
      'manage names, places and phones of master hotels, from the content file of an export',
    brands: "list the service's brands of master hotels",
    'export [command]': "request and fetch the service's exports of all mappings",
    'verdicts [command]': 'read and list the e-mails in which the service names incorrect mappings',
  },
  'Running:': {
    'cancel [day]': "abandon a day's unfinished run; the schedule then leaves that day alone",
    work: 'perform steps of any run from the queue on Redis, until stopped',
    'notify [command]': 'test the channels that tell people what happened',
    'backup <path>': 'copy the SQLite ledger to a new file, while other processes use it',
    'completion <shell>': 'print a script with which bash, zsh or fish completes commands and options',
  },
  "Guests' data and access:": {
    'guest [command]': 'export or remove the data kept about guests',
    privacy: 'print which personal data is kept, where, since when, until when, and who receives it',
    audit: "list who looked at guests' data or wrote it to a file, when, and which data",
    'user [command]': 'manage who may use the pages of serve (setting server.users)',
  },
};

/** The file of each, which is loaded only when the command is named. */
export const files: Readonly<Record<string, () => Promise<{ readonly default: AnyCommand }>>> = {
  init: () => import('./commands/init.js'),
  doctor: () => import('./commands/doctor.js'),
  run: () => import('./commands/run.js'),
  replay: () => import('./commands/replay.js'),
  status: () => import('./commands/status.js'),
  show: () => import('./commands/show.js'),
  affected: () => import('./commands/affected.js'),
  cases: () => import('./commands/cases.js'),
  serve: () => import('./commands/serve.js'),
  sandbox: () => import('./commands/sandbox.js'),
  rejected: () => import('./commands/rejected.js'),
  refused: () => import('./commands/refused.js'),
  posted: () => import('./commands/posted.js'),
  suspects: () => import('./commands/suspects.js'),
  verify: () => import('./commands/verify.js'),
  report: () => import('./commands/report.js'),
  providers: () => import('./commands/providers.js'),
  evidence: () => import('./commands/evidence.js'),
  case: () => import('./commands/case.js'),
  mappings: () => import('./commands/mappings.js'),
  hotels: () => import('./commands/hotels.js'),
  brands: () => import('./commands/brands.js'),
  export: () => import('./commands/export.js'),
  verdicts: () => import('./commands/verdicts.js'),
  cancel: () => import('./commands/cancel.js'),
  work: () => import('./commands/work.js'),
  notify: () => import('./commands/notify.js'),
  backup: () => import('./commands/backup.js'),
  completion: () => import('./commands/completion.js'),
  guest: () => import('./commands/guest.js'),
  privacy: () => import('./commands/privacy.js'),
  audit: () => import('./commands/audit.js'),
  user: () => import('./commands/user.js'),
};
