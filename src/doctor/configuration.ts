import type { Config } from '../config/load.js';
import { listPlaceholders } from '../config/placeholders.js';
import { ConfigurationError } from '../config/problems.js';
import { describeError } from '../text/safe-error.js';
import { type Finding, findingsOf } from './finding.js';

const { ok, warning, wrong } = findingsOf('configuration');

interface ReadConfiguration {
  /** Absent where it cannot be used. */
  readonly config?: Config;
  readonly findings: readonly Finding[];
  /** The settings that are wrong, as paths. */
  readonly wrongSettings: readonly string[];
}

/** Reads the configuration, and says everything that is wrong with it. */
export async function readConfiguration(
  file: string,
  load: () => Promise<Config>,
): Promise<ReadConfiguration> {
  try {
    const config = await load();
    const understood = ok(`${file} is understood; bookings are delivered by ${config.delivery}`);
    const findings = [
      understood,
      ...listPlaceholders(config).map(askToFillIn),
      ...config.literalSecrets.map(warnOfSecret),
    ];
    return { config, findings, wrongSettings: [] };
  } catch (error) {
    const problems = error instanceof ConfigurationError ? error.problems : undefined;
    const mistakes = problems?.map(({ path, message }) => wrong(`${path}: ${message}`)) ?? [
      wrong(describeError(error)),
    ];
    return {
      findings: [...mistakes, warning('the other parts are looked at when the configuration can be read')],
      wrongSettings: problems?.map(({ path }) => path) ?? [],
    };
  }
}

function askToFillIn(path: string): Finding {
  const advice = /hostKey$/.test(path)
    ? 'The line sftp shows what the server presents; ask its operator whether that is right.'
    : 'Put in the right one: in the configuration, or in .env where that takes it from there.';
  return wrong(`${path} is still the placeholder that init wrote`, advice);
}

function warnOfSecret(path: string): Finding {
  return warning(
    `${path} holds a secret that stands in the file itself`,
    `Put it into the environment or into .env, and write the setting as "\${NAME}" with the variable's name.`,
  );
}
