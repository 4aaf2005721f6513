import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import { isTimeZone } from '../../src/base/time-zones.js';
import { UsageError } from '../../src/base/usage-error.js';
import { businessDayAt } from '../../src/booking/business-day.js';
import {
  listSecrets,
  placeholderOf,
  renderSecrets,
  type SecretName,
  setupOf,
  variables,
} from '../../src/checks/setup/answers.js';
import { createTerminalAsker, defaultsAsker, wrapLines } from '../../src/checks/setup/asker.js';
import { referToSchema, renderConfiguration } from '../../src/checks/setup/configuration-text.js';
import { interview } from '../../src/checks/setup/interview.js';
import { listNextSteps, showPath } from '../../src/checks/setup/next-steps.js';
import { checkOptions } from '../../src/checks/setup/options.js';
import { createSourceTrials } from '../../src/checks/setup/source-trials.js';
import { isThere, writeNewFiles } from '../../src/checks/setup/write-new-files.js';
import { dotEnvName, pickProxyVariables, readDotEnv } from '../../src/config/environment.js';
import { hasPlaceholders } from '../../src/config/placeholders.js';
import { writeFlag } from '../../src/sources/common/setup.js';
import { sourceKinds } from '../../src/sources/registry.js';
import { createHookSecret } from '../../src/transports/http/webhook-signature.js';
import { clock } from '../clock.js';
import {
  bareCommand,
  choice,
  dayOption,
  flag,
  type OptionOf,
  option,
  readDayIn,
  wholeNumber,
} from '../command.js';
import { openSourceParts } from '../sources.js';

/** It ships with the package. */
const schemaFile = fileURLToPath(new URL('../../hotel-review.schema.json', import.meta.url));

/**
 * Writes a configuration and, beside it, `.env`. On a terminal it asks for what the options leave open. It tries the
 * source.
 */
export default bareCommand({
  place: ['common', 1],
  summary: 'ask a few questions, and write a commented configuration and a .env for its secrets',
  options: {
    kind: choice(
      '--kind <kind>',
      'the kind of source: a file per day, a database, an API, your own code',
      sourceKinds.map(({ name }) => name),
    ),
    ...sourceOptions(),
    day: dayOption('--day <day>', 'the day to read (default: that of the newest file, or yesterday)'),
    timezone: option('--timezone <zone>', "the account's time zone, such as Europe/Madrid"),
    baseUrl: option('--base-url <url>', 'the address of the mapping service, with its version'),
    delivery: choice('--delivery <how>', 'how bookings reach the service (default: body)', ['body', 'file']),
    usualBookings: option(
      '--usual-bookings <count>',
      'bookings of a usual day: fewer than half are too few',
      wholeNumber(1, 1_000_000_000),
    ),
    sftpHost: option('--sftp-host <host>', 'for delivery by file: the SFTP server'),
    sftpPort: option('--sftp-port <port>', 'its port', wholeNumber(1, 65_535)),
    sftpUsername: option('--sftp-username <name>', 'its user name'),
    sftpKeyFile: option('--sftp-key-file <path>', 'its private key; without one a password is used'),
    yes: flag('--yes', 'ask nothing: settings without an option get their default or a placeholder'),
  },
  examples: `
Up to five bookings of the day are read and shown as they were understood, with
names masked. Nothing is sent, and no file is overwritten.

There are no options for secrets: others on this machine could read them. On a
terminal, init asks for them; or put them into the environment or into .env:
  HOTEL_REVIEW_SOURCE_URL       the address of the database, with its password
  HOTEL_REVIEW_SOURCE_TOKEN     --auth bearer
  HOTEL_REVIEW_SOURCE_PASSWORD  the password of sftp://
  HOTEL_REVIEW_SOURCE_KEY       --auth header
  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
                                s3://; otherwise as Amazon's tools find them

Examples:
  hotel-review init                                        asks on a terminal
  hotel-review init --yes --path "exports/{day}.csv"       asks nothing
  hotel-review init --config staging.yaml --delivery file  delivery by SFTP
  hotel-review init --path "s3://agency/{day}.csv.gz" --s3-region eu-central-1
  hotel-review init --path "sftp://drop.example.com/out/{day}.ndjson" \\
    --kind ndjson --source-sftp-username agency --source-sftp-key-file keys/drop
  hotel-review init --kind sql --query-file bookings.sql
  hotel-review init --kind sql \\
    --query "SELECT * FROM bookings WHERE booked_on = :day"
  hotel-review init --auth bearer --records data.bookings --pagination cursor \\
    --cursor-field meta.next --page-parameter cursor \\
    --url "https://pms.example.com/v1/bookings?day={day}"
  hotel-review init --kind module --path bookings.mjs`,

  async run(bare, { day: written, ...given }) {
    const { globals, signal, command, locate } = bare;
    const { stdin: input, stderr: output, env: environment, cwd, home } = bare.io;
    const timezone = isTimeZone(bare.io.timeZone) ? bare.io.timeZone : 'UTC';
    // The account's zone may not be known yet.
    const day = written === undefined ? undefined : readDayIn(timezone, written).iso;
    const options = { ...given, day };
    const { config } = globals;
    const file = locate(config);
    const folder = dirname(file);
    const env = join(folder, dotEnvName);
    // The questions go to standard error, not to standard output.
    const asks = !options.yes && !globals.json && input.isTTY && output.isTTY;
    const keepsEnv = await isThere(env);
    const known = readPresent({ ...(keepsEnv && (await readDotEnv(env))), ...environment });
    checkOptions(options, { asks, known });
    if (await isThere(file))
      throw new UsageError(
        `${config} already exists and is not overwritten; edit it, move it away, or name another file with --config`,
      );
    const asker = asks
      ? createTerminalAsker({ input, output, signal })
      : { ...defaultsAsker, tell: (text: string) => void bare.warn(wrapLines(text)) };
    const interviewed = await interview(options, {
      asker,
      timezone,
      home,
      asksSecrets: !keepsEnv,
      known,
      trials: createSourceTrials({
        file,
        env: { ...pickPresent(known), ...pickProxyVariables(environment) },
        clock,
        signal,
        tell: asker.tell,
        openParts: (parsed) => openSourceParts(parsed, bare.sourceMessages),
      }),
    });
    signal.throwIfAborted();
    const { examination, findings } = interviewed;
    const hookSecret = keepsEnv ? known('hookSecret') : createHookSecret(randomBytes);
    const answers = {
      ...interviewed.answers,
      secrets: { ...interviewed.answers.secrets, hookSecret },
    };
    const text = renderConfiguration({ answers, examination, schema: referToSchema(schemaFile, folder) });
    await writeNewFiles([
      ...(keepsEnv ? [] : [{ path: env, text: renderSecrets(answers), mode: 0o600 }]),
      { path: file, text, mode: 0o644 },
    ]);

    const shownEnv = showPath(env, cwd);
    const next = listNextSteps({
      config,
      env: shownEnv,
      missingSecrets: listSecrets(answers)
        .filter((name) => known(name) === undefined && (keepsEnv || answers.secrets[name] === undefined))
        .map((name) => variables[name]),
      hasPlaceholders: hasPlaceholders(text),
      module:
        examination.kind === 'no-file' ? setupOf(answers.source).findProgram?.(answers.source) : undefined,
      missing: examination.kind === 'examined' ? examination.missing : [],
      day:
        'day' in examination
          ? examination.day
          : (day ?? businessDayAt(new Date(clock()), answers.timezone).previous().iso),
      command,
    });
    const done = keepsEnv
      ? `Wrote ${config}; ${shownEnv} already exists and was left unchanged.`
      : `Wrote ${config} and ${shownEnv}.`;
    return bare.answer([done, '', 'Next:', next.map((step, index) => `  ${index + 1}. ${step}`)], {
      configuration: file,
      env,
      next,
      ...(findings.length > 0 && { source: findings }),
    });
  },
});

/** The options of all kinds of sources. Kinds may share one: the help says what it means for each. */
function sourceOptions(): Readonly<Record<string, OptionOf<unknown>>> {
  const names = new Set(sourceKinds.flatMap(({ flags }) => Object.keys(flags)));
  return Object.fromEntries([...names].map((name) => [name, { option: createSourceOption(name) }]));
}

function createSourceOption(name: string): Option {
  const kindsByHelp = new Map<string, string[]>();
  let [value, choices]: [string, readonly string[] | undefined] = ['', undefined];
  for (const { name: kind, flags } of sourceKinds) {
    const found = flags[name];
    if (found === undefined) continue;
    kindsByHelp.set(found.help, [...(kindsByHelp.get(found.help) ?? []), kind]);
    ({ value, choices } = found);
  }
  const help = [...kindsByHelp].map(([text, kinds]) => `${kinds.join(', ')}: ${text}`).join('; ');
  const made = new Option(`${writeFlag(name)} ${value}`, help);
  return choices === undefined ? made : made.choices(choices);
}

/** Finds a secret that exists and is not a placeholder. */
function readPresent(present: NodeJS.Dict<string>) {
  return (name: SecretName): string | undefined => {
    const value = present[variables[name]];
    return value === '' || value === placeholderOf(name) ? undefined : value;
  };
}

function pickPresent(known: (name: SecretName) => string | undefined): NodeJS.Dict<string> {
  const names = Object.keys(variables) as SecretName[];
  const found = names.map((name) => [variables[name], known(name)] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}
