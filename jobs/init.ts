import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { businessDayAt, isTimeZone } from '../src/booking/business-day.js';
import { exitCode } from '../src/cli/exit-code.js';
import { dotEnvName, pickProxyVariables, readDotEnv } from '../src/config/environment.js';
import { hasPlaceholders } from '../src/config/placeholders.js';
import type { Examination } from '../src/examination/examine-day.js';
import { createHookSecret } from '../src/server/hook-credentials.js';
import {
  type Answers,
  listSecrets,
  placeholderOf,
  renderSecrets,
  type SecretName,
  setupOf,
  variables,
} from '../src/setup/answers.js';
import { createTerminalAsker, defaultsAsker, wrapLines } from '../src/setup/asker.js';
import { referToSchema, renderConfiguration } from '../src/setup/configuration-text.js';
import { interview } from '../src/setup/interview.js';
import { listNextSteps, showPath } from '../src/setup/next-steps.js';
import { checkOptions, type InitOptions } from '../src/setup/options.js';
import { createSourceTrials } from '../src/setup/source-trials.js';
import { isThere, writeNewFiles } from '../src/setup/write-new-files.js';
import { UsageError } from '../src/text/usage-error.js';
import { clock } from './clock.js';
import { openSourceParts } from './sources.js';
import type { Terminal } from './terminal.js';

export interface InitParts {
  readonly terminal: Terminal;
  /** The shipped hotel-review.schema.json, absolute. */
  readonly schemaFile: string;
}

/**
 * Writes a configuration and, beside it, `.env`. On a terminal it asks for what the options leave open. It tries the
 * source.
 *
 * @throws UsageError if the configuration exists already, or an option can't be used; StoppedError
 */
export async function initialise(
  options: InitOptions,
  { config, json }: { readonly config: string; readonly json: boolean },
  { terminal, schemaFile }: InitParts,
): Promise<number> {
  // The questions go to standard error, not to standard output.
  const { stdin: input, stderr: errors, env: environment, cwd, home, timeZone, onAbandoned } = terminal.io;
  const file = terminal.locate(config);
  const folder = dirname(file);
  const env = join(folder, dotEnvName);
  const asks = !options.yes && !json && input.isTTY && errors.isTTY;
  const keepsEnv = await isThere(env);
  const present = { ...(keepsEnv && (await readDotEnv(env))), ...environment };
  const known = (name: SecretName) => readPresent(present, name);
  checkOptions(options, { asks, known });
  if (await isThere(file)) {
    throw new UsageError(
      `${config} already exists and is not overwritten; edit it, move it away, or name another file with --config`,
    );
  }
  const asker = asks
    ? createTerminalAsker({ input, output: errors, signal: terminal.signal })
    : { ...defaultsAsker, tell: (text: string) => void terminal.warn(wrapLines(text)) };
  const timezone = isTimeZone(timeZone) ? timeZone : 'UTC';
  const {
    answers: given,
    examination,
    findings,
  } = await interview(options, {
    asker,
    timezone,
    home,
    asksSecrets: !keepsEnv,
    known,
    trials: createSourceTrials({
      file,
      env: { ...pickPresent(known), ...pickProxyVariables(terminal.io.env) },
      clock,
      signal: terminal.signal,
      tell: asker.tell,
      openParts: (parsed) => openSourceParts(parsed, terminal.sourceMessages),
      onAbandoned,
    }),
  });
  terminal.signal.throwIfAborted();
  const hookSecret = keepsEnv ? known('hookSecret') : createHookSecret(randomBytes);
  const answers = { ...given, secrets: { ...given.secrets, hookSecret } };
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
    module: findMissingProgram(answers, examination),
    missing: examination.kind === 'examined' ? examination.missing : [],
    day:
      'day' in examination
        ? examination.day
        : (options.day ?? businessDayAt(new Date(clock()), answers.timezone).previous().iso),
    command: terminal.command,
  });
  const written = keepsEnv
    ? `Wrote ${config}; ${shownEnv} already exists and was left unchanged.`
    : `Wrote ${config} and ${shownEnv}.`;
  terminal.answer(`${written}\n\nNext:\n${next.map((step, index) => `  ${index + 1}. ${step}`).join('\n')}`, {
    configuration: file,
    env,
    next,
    ...(findings.length > 0 && { source: findings }),
  });
  return exitCode.done;
}

/** A secret that exists and is not a placeholder. */
function readPresent(present: NodeJS.Dict<string>, name: SecretName): string | undefined {
  const value = present[variables[name]];
  return value === '' || value === placeholderOf(name) ? undefined : value;
}

function pickPresent(known: (name: SecretName) => string | undefined): NodeJS.Dict<string> {
  const names = Object.keys(variables) as SecretName[];
  const found = names.flatMap((name): [string, string][] => {
    const value = known(name);
    return value === undefined ? [] : [[variables[name], value]];
  });
  return Object.fromEntries(found);
}

function findMissingProgram({ source }: Answers, examination: Examination): string | undefined {
  return examination.kind === 'no-file' ? setupOf(source).findProgram?.(source) : undefined;
}
