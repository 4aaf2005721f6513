import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InvalidArgumentError } from 'commander';
import { encodings } from '../../src/base/encoding.js';
import { showInLine } from '../../src/base/foreign-text.js';
import { isTimeZone } from '../../src/base/geography.js';
import { UsageError } from '../../src/base/safe-error.js';
import { isPlaceholder } from '../../src/base/setting-placeholders.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import type { Finding } from '../../src/checks/check.js';
import type { EncodingGuess } from '../../src/checks/examination/encoding-check.js';
import { checkSource, warnOfSamePath } from '../../src/checks/examination/source-check.js';
import { leaveOutCancelled, warnOfUnconfirmed } from '../../src/checks/examination/unconfirmed.js';
import { writeYaml } from '../../src/checks/examination/write-yaml.js';
import { type Asker, createAsker, wrapLines } from '../../src/checks/setup/asker.js';
import {
  type ConfigurationContent,
  createSourceTemplates,
  listPlaceholders,
  listSecrets,
  referToFile,
  renderConfiguration,
  renderDotEnv,
  type SourceText,
} from '../../src/checks/setup/configuration-text.js';
import { findDayInName } from '../../src/checks/setup/day-in-name.js';
import {
  describeExport,
  describeIncomplete,
  type Examined,
  examineExport,
  writeSource,
} from '../../src/checks/setup/examine-export.js';
import { isThere, writeNewFiles } from '../../src/checks/setup/write-new-files.js';
import { dotEnvName, readDotEnv } from '../../src/config/environment.js';
import { parseConfig } from '../../src/config/parse.js';
import { kindOf } from '../../src/sources/registry.js';
import { createHookSecret } from '../../src/transports/http/webhook-signature.js';
import { type Bare, bareCommand, option, readDayIn } from '../command.js';
import { composeSource, openSourceParts } from '../sources.js';

/** What a configuration refers to comes with the package. */
const createReference = (configuration: string) => (file: string) =>
  referToFile(fileURLToPath(new URL(`../../${file}`, import.meta.url)), dirname(configuration));
const schema = 'schema/1.json';
type Templates = ReturnType<typeof createSourceTemplates>;
const templates = Object.keys(createSourceTemplates((file) => file)) as (keyof Templates)[];
const exportName = /\.(?:csv|tsv|ndjson|jsonl)(?:\.gz)?$/i;
const mostListed = 9;

interface Given {
  readonly file: string | undefined;
  readonly timezone: string | undefined;
  readonly delivery: 'body' | 'file' | undefined;
  readonly encoding: string | undefined;
}

/** What is written, and what reading the day found. */
interface Understood {
  readonly content: ConfigurationContent;
  readonly day: string;
  readonly findings: readonly Finding[];
}

/** Writes a configuration and, beside it, `.env`: for an export that it examines, or a template to be filled in. */
export default bareCommand({
  place: ['common', 1],
  summary: "examine a day's export, and write a commented configuration and a .env for its secrets",
  usage: '[file]',
  arguments: (file?: string) => ({ file }),
  options: {
    timezone: option('--timezone <zone>', "the account's time zone, such as Europe/Madrid", {
      read: readZone,
    }),
    delivery: option('--delivery <how>', 'how bookings reach the service', { choices: ['body', 'file'] }),
    encoding: option('--encoding <name>', 'the encoding of the file, where it is not certain', {
      choices: encodings,
    }),
    kind: option('--kind <kind>', 'without a file: write the template of such a source', {
      choices: templates,
    }),
  },
  examples: `
The file is the export of a day as CSV or NDJSON, plain or gzip. Up to five of its
bookings are shown as they were understood, with names masked. Nothing is sent,
and no file is overwritten. On a terminal, init asks for what it cannot find.

Examples:
  hotel-review init                               lists what it sees, and asks
  hotel-review init exports/bookings-20261120.csv
  hotel-review init day.ndjson --timezone Europe/Madrid --delivery body
  hotel-review init --kind postgres               a template to fill in`,

  async run(bare, { kind, ...given }) {
    const { globals, io, command, locate, signal } = bare;
    const configuration = locate(globals.config);
    if (await isThere(configuration))
      throw new UsageError(
        `${globals.config} already exists and is not overwritten; edit it, move it away, or name another file with --config`,
      );
    if (kind !== undefined && (given.file ?? given.encoding) !== undefined)
      throw new UsageError('--kind writes a template, and goes without a FILE and --encoding');
    const { content, day, findings } =
      kind === undefined
        ? await understandExport(bare, configuration, given)
        : fillTemplate(bare, configuration, kind, given);
    signal.throwIfAborted();

    const text = renderConfiguration(content);
    const secrets = listSecrets(content, generateSecrets());
    const env = join(dirname(configuration), dotEnvName);
    const keepsEnv = await isThere(env);
    const present = { ...(keepsEnv ? await readDotEnv(env) : secrets), ...io.env };
    await writeNewFiles([
      ...(keepsEnv ? [] : [{ path: env, text: renderDotEnv(secrets), mode: 0o600 }]),
      { path: configuration, text, mode: 0o644 },
    ]);

    const shownEnv = showPath(env, io.cwd);
    const isMissing = (name: string) => !present[name] || isPlaceholder(present[name]);
    const missing = Object.keys(secrets).filter(isMissing);
    const open = listPlaceholders(text);
    const dryRun = command(`run ${day} --dry-run`);
    const isTemplate = kind !== undefined;
    const next = [
      ...(isTemplate ? [] : [dryRun]),
      ...(missing.length > 0 ? [`put ${list.format(missing)} into ${shownEnv}`] : []),
      ...(open.length > 0
        ? [`fill in what ${globals.config} marks as PLACEHOLDER: ${list.format(open)}`]
        : []),
      command('doctor'),
      ...(isTemplate ? [dryRun] : []),
    ];
    const done = keepsEnv
      ? `Wrote ${globals.config}; ${shownEnv} already exists and was left unchanged.`
      : `Wrote ${globals.config} and ${shownEnv}.`;
    return bare.answer([done, '', 'Next:', next.map((step, index) => `  ${index + 1}. ${step}`)], {
      ...{ configuration, env, next },
      ...(findings.length > 0 && { source: findings }),
    });
  },
});

const list = new Intl.ListFormat('en');

function readZone(zone: string): string {
  const fault = findZoneFault(zone);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return zone;
}

const findZoneFault = (zone: string) =>
  isTimeZone(zone) ? undefined : `expected a time zone such as Europe/Madrid, got: ${zone}`;

const zoneOf = ({ io }: Bare) => (isTimeZone(io.timeZone) ? io.timeZone : 'UTC');

const generateSecrets = () => ({
  hashKey: randomBytes(32).toString('base64'),
  hookSecret: createHookSecret(randomBytes),
});

function fillTemplate(bare: Bare, configuration: string, kind: keyof Templates, given: Given): Understood {
  const { timezone, delivery = 'body' } = given;
  const zone = timezone ?? zoneOf(bare);
  const refer = createReference(configuration);
  const source: SourceText = createSourceTemplates(refer)[kind];
  const note = "PLACEHOLDER: this is the machine's zone. Put in the account's.";
  return {
    content: {
      timezone: { yaml: zone, ...(timezone === undefined && { note }) },
      ...{ delivery, source, schema: refer(schema) },
    },
    day: readDayIn(zone).iso,
    findings: [],
  };
}

/** Examines an export, asks for what it doesn't show, and reads its first bookings as a run would. */
async function understandExport(bare: Bare, configuration: string, given: Given): Promise<Understood> {
  const { signal, sourceMessages, locate, warn } = bare;
  const ask = openQuestions(bare);
  const file = locate(
    await ask(given.file, "the FILE of a day's bookings, or --kind", (asker) => askFile(asker, bare)),
  );
  const looked = await lookAt(file, bare, configuration, given.timezone ?? zoneOf(bare));
  const { location, examined, template } = looked;
  const { unconfirmed, encodingGuess: guess } = examined;
  const timezone = await ask(given.timezone, '--timezone, such as --timezone Europe/Madrid', (asker) =>
    asker.ask({ message: "The account's time zone", fallback: zoneOf(bare), check: findZoneFault }),
  );
  const delivery = await ask(given.delivery, '--delivery body or --delivery file', askDelivery);
  const encoding =
    guess && guess.others.length > 0
      ? await ask(given.encoding, `--encoding: ${location} may be in ${guess.encoding}`, askEncoding(guess))
      : (given.encoding ?? examined.encoding ?? 'utf-8');

  const where = unconfirmed ? leaveOutCancelled(unconfirmed) : {};
  const found = { examined, location, path: template, encoding, where };
  warn(wrapLines(describeExport(found)));
  const content = {
    ...{ timezone: { yaml: timezone }, delivery, incomplete: describeIncomplete(examined) },
    ...{ source: writeSource(found), schema: createReference(configuration)(schema) },
  };
  const config = parseContent(configuration, content);
  const day = createBusinessDay(looked.day, timezone);
  const findings = [
    // Without its master id no booking can be understood.
    ...(examined.columns.has('ServiceId')
      ? await checkSource({ ...config, ...(await composeSource(config, sourceMessages)), day }, signal)
      : []),
    ...warnOfSamePath(config.source),
    ...(Object.keys(where).length > 0 ? [] : warnOfUnconfirmed(unconfirmed)),
  ];
  for (const finding of findings) warn(wrapLines(describeFinding(finding)));
  return { content, day: day.iso, findings };
}

/** What belongs to it below. */
function describeFinding({ verdict, message, advice }: Finding): string {
  const [first = '', ...others] = [...message.split('\n'), ...(advice === undefined ? [] : [advice])];
  return [
    verdict === 'ok' ? first : `${verdict}: ${first}`,
    ...others.map((line) => `  ${line.trim()}`),
  ].join('\n');
}

/** What an export and its name show: a path for every day, and the day of its own bookings. */
async function lookAt(file: string, { signal, sourceMessages }: Bare, configuration: string, zone: string) {
  const location = relative(dirname(configuration), file).replaceAll(sep, '/');
  const named = findDayInName(location, await readdir(dirname(file)).catch(() => []), zone);
  const day = named === undefined ? readDayIn(zone) : createBusinessDay(named.iso, zone);
  const stats = await stat(file).catch(() => undefined);
  const open = (kind: Examined['kind']) => {
    const path = { yaml: writeYaml(named?.template(false) ?? location) };
    const source = { kind, settings: { path }, secrets: {} };
    const content = { timezone: { yaml: zone }, delivery: 'body' as const, source, schema: '' };
    const config = parseContent(configuration, content);
    return kindOf(config.source).openSample(config.source, openSourceParts(config, sourceMessages));
  };
  const examined = await examineExport(
    { day, written: named === undefined ? undefined : stats?.mtime, open },
    signal,
  );
  const isNext = examined.isOfDayBefore !== undefined;
  return {
    ...{ location, examined, template: named?.template(isNext) ?? location },
    day: (isNext ? day.previous() : day).iso,
  };
}

/** The configuration as it will be read, with made-up secrets. */
const parseContent = (configuration: string, content: ConfigurationContent) =>
  parseConfig({
    text: renderConfiguration(content),
    file: configuration,
    env: listSecrets(content, generateSecrets()),
  });

/** Where nobody can be asked, an answer that is missing says which option gives it. */
function openQuestions({ globals, io, signal }: Bare) {
  const { stdin: input, stderr: output } = io;
  const asker = !globals.json && input.isTTY && output.isTTY ? createAsker(input, output, signal) : undefined;
  return async <Value>(
    given: Value | undefined,
    missing: string,
    question: (asker: Asker) => Promise<Value>,
  ): Promise<Value> => {
    if (given !== undefined) return given;
    if (asker === undefined) throw new UsageError(`there is no terminal to ask on: give ${missing}`);
    return question(asker);
  };
}

/** Lists what looks like an export here and one folder below. */
async function askFile({ ask }: Asker, { io: { cwd }, locate }: Bare): Promise<string> {
  const entries = await readdir(cwd, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name));
  const names = await Promise.all(
    ['', ...folders.map(({ name }) => name)].map(async (folder) =>
      (await readdir(join(cwd, folder)).catch(() => [])).map((name) => join(folder, name)),
    ),
  );
  const seen = names.flat().filter((name) => exportName.test(name));
  const shown = seen.sort().reverse().slice(0, mostListed);
  const lines = shown.map((name, index) => `\n  ${index + 1}  ${showInLine(name)}`);
  const read = (typed: string) => shown[Number(typed) - 1] ?? typed;
  const answer = await ask({
    message: `Which file holds the bookings of a day, as CSV or NDJSON?${lines.join('')}\nNumber or path`,
    fallback: shown[0],
    check: (typed) =>
      typed !== '' && existsSync(locate(read(typed))) ? undefined : 'expected the path of a file',
  });
  return read(answer);
}

function askDelivery({ choose }: Asker): Promise<'body' | 'file'> {
  return choose(
    'How do the bookings reach the service?',
    {
      body: 'In request bodies. Verdicts come by e-mail only: nobody learns one until the setting verdicts says where',
      file: 'As a file on its SFTP server. A result says which bookings are affected',
    },
    'body',
  );
}

function askEncoding({ encoding, readings }: EncodingGuess) {
  const choices = readings.flatMap(({ encodings: [one, ...alike], words }) =>
    one === undefined ? [] : [[one, [[one, ...alike].join(', '), ...words].join('  ')]],
  );
  return async ({ choose }: Asker): Promise<string> => {
    // Nobody can choose between readings that look the same.
    if (choices.length === 1) return encoding;
    return choose(
      'The encoding of the file is not certain. Which one reads its names right? They are shown without the letters that are the same in all.',
      Object.fromEntries(choices),
      encoding,
    );
  };
}

/** A path as a person in that folder writes it. */
function showPath(path: string, folder: string): string {
  const shown = relative(folder, path);
  return shown === '' || shown.startsWith('..') ? path : shown;
}
