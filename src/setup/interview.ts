import { join } from 'node:path';
import type { ServiceField } from '../booking/booking.js';
import type { InitOptions } from '../cli/commands/setup.js';
import { readSettingFacts } from '../config/setting-facts.js';
import {
  type AnswerName,
  type Answers,
  checkAnswer,
  namesServer,
  type SftpAnswers,
  settingOf,
} from './answers.js';
import type { Asker } from './asker.js';
import type { Examination, ExaminedSource } from './examine-export.js';
import { checkDotEnvValue } from './render-dot-env.js';

/** What the questions need to know of the machine. */
export interface InterviewParts {
  readonly asker: Asker;
  /** The machine's, by its IANA name. */
  readonly timezone: string;
  /** What `~/` stands for. */
  readonly home: string;
  /** False where `.env` is there already: what is typed could not be kept. */
  readonly asksSecrets: boolean;
  readonly examine: (source: ExaminedSource) => Promise<Examination>;
}

export interface Interview {
  readonly answers: Answers;
  readonly examination: Examination;
}

/** Asks for what the options don't say. An export that is there is looked at as soon as it is named. */
export async function interview(options: InitOptions, parts: InterviewParts): Promise<Interview> {
  const { asker } = parts;
  const ask = (name: AnswerName, message: string, fallback?: string) =>
    asker.text({ message, fallback, check: (answer) => checkAnswer(name, expandHome(answer, parts.home)) });

  const timezone =
    options.timezone ?? (await ask('timezone', "The account's time zone", parts.timezone)) ?? parts.timezone;
  const kind = options.kind ?? (await askKind(asker, options.path));
  const usualPath = `exports/bookings-{day}.${kind}`;
  const path =
    options.path ??
    expandHome(
      (await ask('path', "The file of a day's bookings, with {day} in it", usualPath)) ?? usualPath,
      parts.home,
    );
  const examination = await settle(await parts.examine({ kind, path }), asker);
  const baseUrl =
    options.baseUrl ?? (await ask('baseUrl', 'The address of the mapping service (empty: later)'));
  const delivery = options.delivery ?? (await askDelivery(asker, namesServer(options)));
  const sftp = delivery === 'file' ? await askServer(options, ask, parts.home) : undefined;
  const secrets = await askSecrets(parts, sftp);
  return { answers: { timezone, baseUrl, kind, path, delivery, sftp, secrets }, examination };
}

type Ask = (name: AnswerName, message: string, fallback?: string) => Promise<string | undefined>;

function askKind(asker: Asker, path = ''): Promise<'csv' | 'ndjson'> {
  return asker.choose({
    message: 'What is the export written in?',
    choices: [
      { value: 'csv', label: 'CSV with a header' },
      { value: 'ndjson', label: 'NDJSON: one JSON object a line' },
    ],
    fallback: /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(path) ? 'ndjson' : 'csv',
  });
}

function askDelivery(asker: Asker, hasServer: boolean): Promise<'body' | 'file'> {
  return asker.choose({
    message: 'How do the bookings reach the service?',
    choices: [
      { value: 'body', label: 'In request bodies' },
      { value: 'file', label: 'As a file on an SFTP server' },
    ],
    fallback: hasServer ? 'file' : 'body',
  });
}

async function askServer(options: InitOptions, ask: Ask, home: string): Promise<SftpAnswers> {
  const usualPort = String(readSettingFacts(settingOf.sftpPort).fallback);
  const host = options.sftpHost ?? (await ask('sftpHost', 'The SFTP server (empty: later)'));
  const port = options.sftpPort ?? Number((await ask('sftpPort', 'Its port', usualPort)) ?? usualPort);
  const username = options.sftpUsername ?? (await ask('sftpUsername', 'The user name there (empty: later)'));
  const keyFile =
    options.sftpKeyFile ??
    (await ask('sftpKeyFile', 'The file of the private key (empty: a password is used)'));
  const hostKey = await ask('sftpHostKey', 'The fingerprint of its host key, SHA256:… (empty: later)');
  return {
    host,
    port,
    username,
    keyFile: keyFile === undefined ? undefined : expandHome(keyFile, home),
    hostKey,
  };
}

async function askSecrets(
  { asker, asksSecrets }: InterviewParts,
  sftp: SftpAnswers | undefined,
): Promise<Answers['secrets']> {
  if (!asksSecrets) return { apiKey: undefined, accountId: undefined, sftpPassword: undefined };
  const check = (name: AnswerName) => (answer: string) =>
    checkAnswer(name, answer) ?? checkDotEnvValue(answer);
  const accountId = await asker.text({
    message: "The account's identifier (empty: later)",
    check: check('accountId'),
  });
  const apiKey = await asker.secret({
    message: 'The API key (hidden; empty: later)',
    check: check('apiKey'),
  });
  const usesPassword = sftp !== undefined && sftp.keyFile === undefined;
  const sftpPassword = usesPassword
    ? await asker.secret({
        message: 'The SFTP password (hidden; empty: later)',
        check: check('sftpPassword'),
      })
    : undefined;
  return { apiKey, accountId, sftpPassword };
}

/** Asks what a look at the export could not settle. */
async function settle(examination: Examination, asker: Asker): Promise<Examination> {
  if (examination.kind === 'no-file') return examination;
  if (examination.kind === 'unusable') {
    asker.tell(`${examination.file} is there, but ${examination.reason}.`);
    return examination;
  }
  const { file, columns, missing, unused, dates } = examination;
  asker.tell(`${file}: ${columns.size} of the 7 fields found by the names of its columns.`);
  const masterId = columns.has('ServiceId') ? '' : await askMasterId(asker, unused);
  const chosenDates: typeof dates =
    dates.kind === 'several' ? await askDateFormat(asker, dates.formats) : dates;
  return {
    ...examination,
    dates: chosenDates,
    ...(masterId !== '' && {
      columns: new Map<ServiceField, string>([['ServiceId', masterId], ...columns]),
      missing: missing.filter((field) => field !== 'ServiceId'),
      unused: unused.filter((name) => name !== masterId),
    }),
  };
}

function askMasterId(asker: Asker, unused: readonly string[]): Promise<string> {
  const names = unused.filter((name) => name !== '' && unused.indexOf(name) === unused.lastIndexOf(name));
  return asker.choose({
    message: 'Which column holds the master hotel id (ServiceId)?',
    choices: [
      ...names.map((name) => ({ value: name, label: name })),
      { value: '', label: '(none of these)' },
    ],
    fallback: '',
  });
}

async function askDateFormat(asker: Asker, formats: readonly string[]) {
  const format = await asker.choose({
    message: 'The dates can be read in several ways. How are they written?',
    choices: [...formats.map((value) => ({ value, label: value })), { value: '', label: '(decide later)' }],
    fallback: '',
  });
  return format === '' ? ({ kind: 'several', formats } as const) : ({ kind: 'one', format } as const);
}

/** A shell writes out `~/`, a question doesn't. */
function expandHome(path: string, home: string): string {
  return path.startsWith('~/') ? join(home, path.slice(2)) : path;
}
