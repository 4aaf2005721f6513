import { isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { unknownBaseUrl, unknownHost, unknownHostKey, unknownWord } from '../../base/setting-placeholders.js';
import { readSettingFacts } from '../../config/single-setting.js';
import type { Examination } from '../examination/examine-day.js';
import { type Answers, rules, type SftpAnswers, type SourceAnswers, setupOf, variables } from './answers.js';
import { renderRecords } from './records-text.js';
import { createSettingWriter } from './setting-writer.js';

interface ConfigurationContent {
  readonly answers: Answers;
  readonly examination: Examination;
  /** Where editors find the JSON Schema: a path relative to the configuration, or a URL. */
  readonly schema: string;
}

const write = createSettingWriter();

/** There is no default that could be shown commented out. */
const aboutKeys =
  "Guests' names are stored without encryption. To encrypt them, add the line `keys: ./keys`, which names a folder for the keys, separate from ledger and archive.";

/** It has no default. */
const aboutVolume =
  'Half an export looks like a quiet day until earlier days are known. To notice it from the first night on, add the line `volume: { minimum: N }`, with half of the bookings of a usual day.';

/** Neither has a default, and an address is needed for one of them. */
const aboutLateDays =
  'Without a deadline no day counts as late: add the line `deadline: "06:00"`, the time by which the day before must be reviewed. With `heartbeat`, Healthchecks, Uptime Kuma or Cronitor notice when a night is missing.';

/**
 * The text of a configuration with these answers, valid as it is. The settings that are changed most often follow,
 * commented out. Descriptions and defaults come from the schema.
 */
export function renderConfiguration({ answers, examination, schema }: ConfigurationContent): string {
  const { timezone, delivery, usualBookings, sftp, incomplete } = answers;
  const sections = [
    [
      `# yaml-language-server: $schema=${schema}`,
      ...write.comment(
        `Settings that are commented out show their defaults. Relative paths are relative to this file. \${NAME} is replaced by a ` +
          'variable from the environment or from the file .env beside this one. Fill in whatever is marked as PLACEHOLDER, ' +
          'then run `hotel-review doctor` to check everything.',
      ),
    ],
    write.setting(['timezone'], timezone),
    renderService(answers),
    renderSource(answers.source, examination),
    write.setting(['delivery'], delivery),
    ...(sftp === undefined ? [] : [renderFileDelivery(sftp, incomplete)]),
    write.optionalGroup(['body'], ['batchSize', 'concurrency']),
    write.option(['maxRejectedShare']),
    write.option(['emptyDay']),
    renderVolume(usualBookings),
    write.option(['ledger']),
    ...(delivery === 'file' ? [write.option(['archive'])] : []),
    write.optionalGroup(['schedule'], ['cron']),
    write.comment(aboutLateDays),
    ...(answers.secrets.hookSecret === undefined ? [] : [renderHook()]),
    write.comment(aboutKeys),
    [...write.option(['guestNameDays']), ...write.option(['recordDays'])],
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** The minimum of half a usual day counts from the first night on, when no earlier day is known. */
function renderVolume(usualBookings: number | undefined): string[] {
  return usualBookings === undefined
    ? write.comment(aboutVolume)
    : [...write.group(['volume']), ...write.setting(['volume', 'minimum'], Math.ceil(usualBookings / 2))];
}

/** How a configuration in that folder refers to the JSON Schema. The line can't hold a path with blanks. */
export function referToSchema(schemaFile: string, folder: string): string {
  const path = relative(folder, schemaFile);
  if (isAbsolute(path) || /\s/.test(path)) return pathToFileURL(schemaFile).href;
  const written = path.replaceAll(sep, '/');
  return written.startsWith('../') ? written : `./${written}`;
}

function renderService({ baseUrl }: Answers): string[] {
  return [
    ...write.group(['service']),
    ...write.answer(['service', 'baseUrl'], baseUrl, { text: unknownBaseUrl, what: "the service's address" }),
    ...write.reference(['service', 'apiKey'], variables.apiKey),
    ...write.reference(['service', 'accountId'], variables.accountId),
    ...write.option(['service', 'timeoutSeconds']),
    ...write.option(['service', 'masterIdName']),
    ...write.option(['service', 'masterIdColumn']),
  ];
}

/** Only where there is a secret: a missing variable would stop every command. */
function renderHook(): string[] {
  return [...write.group(['hook']), ...write.reference(['hook', 'secret'], variables.hookSecret)];
}

/** The group `source`, with what examining a day found. */
function renderSource(source: SourceAnswers, examination: Examination): string[] {
  const { render } = setupOf(source);
  const writer = createSettingWriter(source.kind);
  const examined = examination.kind === 'examined' ? examination : undefined;
  const found = {
    records: renderRecords(examination),
    delimiter: examined?.delimiter,
    skipRows: examined?.skipRows,
    encoding: examined?.encoding,
    otherEncodings: examined?.encodingGuess?.others,
  };
  return [
    ...writer.group(['source']),
    ...writer.setting(['source', 'kind'], source.kind),
    ...render(source, writer, found),
    ...writer.option(['source', 'keep']),
  ];
}

function renderFileDelivery(
  { host, port, username, keyFile }: SftpAnswers,
  incomplete: Answers['incomplete'],
): string[] {
  const sftp = ['file', 'sftp'] as const;
  const isUsualPort = port === undefined || port === readSettingFacts(rules.sftpPort.setting).fallback;
  return [
    ...write.group(['file']),
    ...write.group(sftp),
    ...write.answer([...sftp, 'host'], host, { text: unknownHost, what: "the server's name" }),
    ...(isUsualPort ? write.option([...sftp, 'port']) : write.setting([...sftp, 'port'], port)),
    ...write.answer([...sftp, 'username'], username, { text: unknownWord, what: 'your user name there' }),
    ...(keyFile === undefined
      ? write.reference([...sftp, 'password'], variables.sftpPassword)
      : write.setting([...sftp, 'privateKeyFile'], keyFile)),
    ...write.answer([...sftp, 'hostKey'], undefined, {
      text: unknownHostKey,
      what: "what `hotel-review doctor` shows, once the server's operator has confirmed it",
    }),
    ...write.option([...sftp, 'root']),
    ...(incomplete === undefined
      ? write.option(['file', 'incomplete'])
      : write.setting(['file', 'incomplete'], incomplete)),
    ...write.option(['file', 'resultTimeoutMinutes']),
    ...write.option(['file', 'ftpFilePathPrefix']),
  ];
}
