import { describeError } from '../../base/safe-error.js';
import { isGroup } from '../../base/setting-values.js';
import type { Config } from '../../config/load.js';
import { ConfigurationError } from '../../config/problems.js';
import { type Finding, findingsOf } from '../check.js';

const { ok, warning, wrong } = findingsOf('configuration');

/**
 * Reads the configuration and reports everything that is wrong with it. Where nothing but host keys of SFTP servers is wrong, the other
 * parts can be checked: connecting to such a server says which key it presents.
 *
 * @returns no configuration if it can't be used
 * @param load may change the settings as they are written, before they are checked
 */
export async function readConfiguration(
  file: string,
  load: (adjust?: (settings: unknown) => void) => Promise<Config>,
): Promise<{ readonly config?: Config; readonly findings: readonly Finding[] }> {
  try {
    const config = await load();
    return { config, findings: [ok(`${file} is understood; bookings are delivered by ${config.delivery}`)] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) return { findings: [wrong(describeError(error)), unchecked] };
    const { problems } = error;
    const mistakes = problems.map(({ path, message }) => wrong(`${path}: ${message}`));
    const unpinned = problems.flatMap(({ path }) => hostKey.exec(path)?.[1] ?? []);
    if (unpinned.length === problems.length) {
      const config = await load((settings) => pinNothing(settings, unpinned)).catch(() => undefined);
      if (config) return { config, findings: mistakes };
    }
    return { findings: [...mistakes, unchecked] };
  }
}

const unchecked = warning('the other parts are checked once the configuration can be read');

const hostKey = /^(file|source)\.sftp\.hostKey\b/;
const keyOfNobody = `SHA256:${'0'.repeat(43)}`;

/** Lets these servers present their keys: none has the one that is then pinned. */
function pinNothing(settings: unknown, groups: readonly string[]): void {
  for (const name of groups) {
    const group = isGroup(settings) ? settings[name] : undefined;
    const server = isGroup(group) ? group.sftp : undefined;
    if (isGroup(server)) Object.assign(server, { hostKey: keyOfNobody });
  }
}
