import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { businessDayAt, isTimeZone } from '../src/booking/business-day.js';
import type { InitOptions } from '../src/cli/commands/setup.js';
import { exitCode } from '../src/cli/exit-code.js';
import { dotEnvName, readDotEnv } from '../src/config/dot-env.js';
import { UsageError } from '../src/review/refusals.js';
import { checkOptions } from '../src/setup/answers.js';
import { createTerminalAsker } from '../src/setup/ask.js';
import { defaultsAsker } from '../src/setup/asker.js';
import { type ExaminedSource, examineExport } from '../src/setup/examine-export.js';
import { interview } from '../src/setup/interview.js';
import { listNextSteps, showPath } from '../src/setup/next-steps.js';
import { hasPlaceholders, unknownWord } from '../src/setup/placeholders.js';
import { renderConfiguration } from '../src/setup/render-configuration.js';
import { listVariables, renderDotEnv, variables } from '../src/setup/render-dot-env.js';
import { referToSchema } from '../src/setup/schema-reference.js';
import { isThere, writeNewFiles } from '../src/setup/write-new-files.js';
import { clock } from './clock.js';
import type { Terminal } from './terminal.js';

export interface InitParts {
  readonly terminal: Terminal;
  readonly input: NodeJS.ReadStream;
  /** The questions go there, not to standard output. */
  readonly errors: NodeJS.WriteStream;
  /** The shipped hotel-review.schema.json, absolute. */
  readonly schemaFile: string;
}

/**
 * Writes a configuration, and `.env` beside it. Asks on a terminal for what the options don't say.
 *
 * @throws UsageError when the configuration is there already, or an option can't be used; StoppedError
 */
export async function initialise(
  options: InitOptions,
  { config, json }: { readonly config: string; readonly json: boolean },
  { terminal, input, errors, schemaFile }: InitParts,
): Promise<number> {
  const file = resolve(config);
  const folder = dirname(file);
  const env = join(folder, dotEnvName);
  checkOptions(options);
  if (await isThere(file)) {
    throw new UsageError(
      `${config} exists already and is not overwritten; change it by hand, move it away, or name another with --config`,
    );
  }
  const keepsEnv = await isThere(env);
  const known = keepsEnv ? await readDotEnv(env) : {};
  const asks = !options.yes && !json && input.isTTY && errors.isTTY;
  const asker = asks
    ? createTerminalAsker({ input, output: errors, signal: terminal.signal })
    : defaultsAsker;
  const timezone = readMachineZone();
  const today = businessDayAt(new Date(clock()), options.timezone ?? timezone);
  const examine = (source: ExaminedSource) =>
    examineExport(source, { folder, today: today.iso, signal: terminal.signal });

  const { answers, examination } = await interview(options, {
    asker,
    timezone,
    home: homedir(),
    asksSecrets: !keepsEnv,
    examine,
  });
  terminal.signal.throwIfAborted();
  const text = renderConfiguration({ answers, examination, schema: referToSchema(schemaFile, folder) });
  await writeNewFiles([
    ...(keepsEnv ? [] : [{ path: env, text: renderDotEnv(answers), mode: 0o600 }]),
    { path: file, text, mode: 0o644 },
  ]);

  const shownEnv = showPath(env, process.cwd());
  const next = listNextSteps({
    config,
    env: shownEnv,
    owed: listVariables(answers)
      .filter((name) => (keepsEnv ? isOwed(known[variables[name]]) : answers.secrets[name] === undefined))
      .map((name) => variables[name]),
    hasPlaceholders: hasPlaceholders(text),
    missing: examination.kind === 'examined' ? examination.missing : [],
    day: examination.kind === 'no-file' ? today.previous().iso : examination.day,
    command: terminal.command,
  });
  const written = keepsEnv
    ? `Wrote ${config}; ${shownEnv} was there already and is kept as it is.`
    : `Wrote ${config} and ${shownEnv}.`;
  terminal.answer(`${written}\n\nNext:\n${next.map((step, index) => `  ${index + 1}. ${step}`).join('\n')}`, {
    configuration: file,
    env,
    next,
  });
  return exitCode.done;
}

function isOwed(value: string | undefined): boolean {
  return !value || value === unknownWord;
}

function readMachineZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return isTimeZone(timeZone) ? timeZone : 'UTC';
}
