import { dirname, join } from 'node:path';
import { businessDayAt, isTimeZone } from '../src/booking/business-day.js';
import { exitCode } from '../src/cli/exit-code.js';
import { dotEnvName, readDotEnv } from '../src/config/environment.js';
import { hasPlaceholders } from '../src/config/placeholders.js';
import type { Examination } from '../src/examination/examine-day.js';
import { UsageError } from '../src/review/refusals.js';
import type { Answers } from '../src/setup/answers/answers.js';
import { checkOptions } from '../src/setup/answers/check-options.js';
import { type SecretName, variables } from '../src/setup/answers/secrets.js';
import type { InitOptions } from '../src/setup/init-options.js';
import { interview } from '../src/setup/interview.js';
import { listNextSteps, showPath } from '../src/setup/next-steps.js';
import { createTerminalAsker } from '../src/setup/questions/ask.js';
import { defaultsAsker } from '../src/setup/questions/asker.js';
import { renderConfiguration } from '../src/setup/render/configuration.js';
import { listVariables, placeholderOf, renderDotEnv } from '../src/setup/render/dot-env.js';
import { referToSchema } from '../src/setup/render/schema-reference.js';
import { isThere, writeNewFiles } from '../src/setup/write-new-files.js';
import { clock } from './clock.js';
import { openSourceTrials } from './source-trials.js';
import type { Terminal } from './terminal.js';

export interface InitParts {
  readonly terminal: Terminal;
  /** The shipped hotel-review.schema.json, absolute. */
  readonly schemaFile: string;
}

/**
 * Writes a configuration, and `.env` beside it. Asks on a terminal for what the options don't say, and tries the source.
 *
 * @throws UsageError when the configuration is there already, or an option can't be used; StoppedError
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
  checkOptions(options, { asks, database: known('sourceUrl') });
  if (await isThere(file)) {
    throw new UsageError(
      `${config} exists already and is not overwritten; change it by hand, move it away, or name another with --config`,
    );
  }
  const asker = asks
    ? createTerminalAsker({ input, output: errors, signal: terminal.signal })
    : { ...defaultsAsker, tell: (text: string) => void errors.write(`${text}\n`) };
  const timezone = isTimeZone(timeZone) ? timeZone : 'UTC';
  const { answers, examination, findings } = await interview(options, {
    asker,
    timezone,
    home,
    asksSecrets: !keepsEnv,
    known,
    trials: openSourceTrials({
      file,
      env: pickPresent(known),
      clock,
      signal: terminal.signal,
      tell: asker.tell,
      voice: terminal.voice,
      onAbandoned,
    }),
  });
  terminal.signal.throwIfAborted();
  const text = renderConfiguration({ answers, examination, schema: referToSchema(schemaFile, folder) });
  await writeNewFiles([
    ...(keepsEnv ? [] : [{ path: env, text: renderDotEnv(answers), mode: 0o600 }]),
    { path: file, text, mode: 0o644 },
  ]);

  const shownEnv = showPath(env, cwd);
  const next = listNextSteps({
    config,
    env: shownEnv,
    owed: listVariables(answers)
      .filter((name) => known(name) === undefined && (keepsEnv || answers.secrets[name] === undefined))
      .map((name) => variables[name]),
    hasPlaceholders: hasPlaceholders(text),
    module: findUnwrittenModule(answers, examination),
    missing: examination.kind === 'examined' ? examination.missing : [],
    day:
      'day' in examination
        ? examination.day
        : (options.day ?? businessDayAt(new Date(clock()), answers.timezone).previous().iso),
    command: terminal.command,
  });
  const written = keepsEnv
    ? `Wrote ${config}; ${shownEnv} was there already and is kept as it is.`
    : `Wrote ${config} and ${shownEnv}.`;
  terminal.answer(`${written}\n\nNext:\n${next.map((step, index) => `  ${index + 1}. ${step}`).join('\n')}`, {
    configuration: file,
    env,
    next,
    ...(findings.length > 0 && { source: findings }),
  });
  return exitCode.done;
}

/** A secret that is there, and is no placeholder. */
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

function findUnwrittenModule({ source }: Answers, examination: Examination): string | undefined {
  return source.kind === 'module' && examination.kind === 'no-file' ? source.path : undefined;
}
