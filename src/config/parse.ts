import { dirname, resolve } from 'node:path';
import { explainIssues } from './explain.js';
import { isGroup } from './kinds.js';
import { findLiteralSecrets } from './literal-secrets.js';
import { ConfigurationError } from './problems.js';
import { type ReadRequest, readSettings } from './read.js';
import { type Config, resolveConfig } from './resolve.js';
import { settingsSchema } from './schema.js';
import { findUnavailable, unavailableParts } from './unavailable.js';

/**
 * Makes a configuration of a file's text. (Design 9.)
 *
 * @param unavailable the parts that are refused because they are not built yet
 * @throws ConfigurationError with everything that is wrong; where the text is no YAML, with that alone.
 */
export function parseConfig(request: ReadRequest, unavailable = unavailableParts): Config {
  const read = readSettings(request);
  const refused = findUnavailable(isGroup(read.tree) ? read.tree : {}, unavailable);
  // What is refused is left out of the check: it would go on to ask for the settings that go with it.
  // To compile a schema takes longer than to read one file by it.
  const checked = settingsSchema.safeParse(
    leaveOut(read.tree, new Set(refused.flatMap(({ path }) => path))),
    { jitless: true },
  );
  // Where a variable is missing, what stands there instead is no news.
  const unread = new Set(read.problems.map(({ path }) => path));
  const issues = [...(checked.error?.issues ?? []), ...refused];
  const wrong = explainIssues(issues, settingsSchema, read).filter(({ path }) => !unread.has(path));
  if (!checked.success || refused.length > 0 || read.problems.length > 0) {
    throw new ConfigurationError(request.file, [...read.problems, ...wrong]);
  }
  return resolveConfig(checked.data, {
    folder: dirname(resolve(request.file)),
    literalSecrets: findLiteralSecrets(settingsSchema, read),
  });
}

function leaveOut(tree: unknown, names: ReadonlySet<string>): unknown {
  if (!isGroup(tree)) return tree;
  return Object.fromEntries(Object.entries(tree).filter(([name]) => !names.has(name)));
}
