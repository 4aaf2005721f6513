import { dirname, resolve } from 'node:path';
import { isGroup } from '../base/setting-values.js';
import { readProxyRules, readS3Account } from './environment.js';
import { explainIssues } from './explain.js';
import { holdsPassword } from './locations.js';
import { outlineSetting } from './outline.js';
import { ConfigurationError, formatPath } from './problems.js';
import { type ReadRequest, readSettings, type SettingsTree } from './read.js';
import { type Config, resolveConfig } from './resolve.js';
import { settingsSchema } from './schema.js';

/**
 * Parses the text of a configuration file.
 *
 * @throws ConfigurationError with everything that is wrong; if the text is not YAML, with that alone
 */
export function parseConfig(request: ReadRequest, adjust?: (settings: unknown) => void): Config {
  const read = readSettings(request);
  adjust?.(read.tree);
  // Compiling the schema takes longer than checking one file with it.
  const checked = settingsSchema.safeParse(read.tree, { jitless: true });
  // A missing variable is reported once; what it breaks is not.
  const reported = read.problems.map(({ path }) => path);
  const isReported = (path: string) =>
    reported.some((other) => path === other || path.startsWith(`${other}.`) || path.startsWith(`${other}[`));
  const issues = checked.error?.issues ?? [];
  const wrong = explainIssues(issues, read).filter(({ path }) => !isReported(path));
  const { proxy, problems: ofProxy } = readProxyRules(request.env);
  const { s3, problems: ofS3 } = readS3Account(request.env);
  const problems = [...ofProxy, ...ofS3];
  if (!checked.success || read.problems.length + problems.length > 0) {
    throw new ConfigurationError(request.file, [...read.problems, ...problems, ...wrong]);
  }
  return resolveConfig(checked.data, dirname(resolve(request.file)), proxy, s3, findLiteralSecrets(read));
}

/** The settings, as paths, whose secrets are in the configuration itself. */
function findLiteralSecrets({ tree, origins }: SettingsTree): string[] {
  const isSecret = (path: readonly PropertyKey[], text: string) =>
    outlineSetting(path, tree).level === 'secret' || holdsPassword(text);

  const search = (value: unknown, path: readonly PropertyKey[]): string[] => {
    if (typeof value === 'string') {
      return isSecret(path, value) && !origins.has(formatPath(path)) ? [formatPath(path)] : [];
    }
    if (Array.isArray(value)) return value.flatMap((item, index) => search(item, [...path, index]));
    if (!isGroup(value)) return [];
    return Object.entries(value).flatMap(([name, member]) => search(member, [...path, name]));
  };
  return search(tree, []);
}
