import { join } from 'node:path';
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
import { askColumns } from './ask-columns.js';
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

type Examined = Extract<Examination, { readonly kind: 'examined' }>;
type AmbiguousDates = Extract<Examined['dates'], { readonly kind: 'several' }>;

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
  const examination = await settle({ kind, path }, parts);
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

/** Looks at the export, and asks what a look could not settle. */
async function settle(source: ExaminedSource, { asker, examine }: InterviewParts): Promise<Examination> {
  const first = await examine(source);
  if (first.kind === 'no-file') return first;
  if (first.kind === 'unusable') {
    asker.tell(`${first.file} is there, but ${first.reason}.`);
    return first;
  }
  asker.tell(describeFound(first));
  const chosen = await askColumns(asker, first.columns, first.unused);
  // Only with their columns known can the dates be looked at.
  const columns = new Map([...first.columns, ...chosen]);
  const second = chosen.size === 0 ? first : await examine({ ...source, columns });
  if (second.kind !== 'examined') return second;
  return {
    ...second,
    missing: asker.isPerson ? second.missing.filter((field) => field === 'ServiceId') : second.missing,
    dates: second.dates.kind === 'several' ? await askDateFormat(asker, second.dates) : second.dates,
  };
}

function describeFound({ file, columns }: Examined): string {
  const found = [...columns].map(([field, name]) => `\n${field}: ${JSON.stringify(name)}`);
  return `${file}: ${columns.size} of the 7 fields found by the names of its columns.${found.join('')}`;
}

async function askDateFormat(asker: Asker, dates: AmbiguousDates): Promise<Examined['dates']> {
  const format = await asker.choose({
    message: 'The dates can be read in several ways. How are they written?',
    choices: [
      ...dates.readings.map(({ format }) => ({ value: format, label: format })),
      { value: '', label: '(decide later)' },
    ],
    fallback: '',
  });
  const chosen = dates.readings.find((reading) => reading.format === format);
  return chosen === undefined ? dates : { kind: 'one', ...chosen };
}

/** A shell writes out `~/`, a question doesn't. */
function expandHome(path: string, home: string): string {
  return path.startsWith('~/') ? join(home, path.slice(2)) : path;
}
