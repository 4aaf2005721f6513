import { dirname, resolve } from 'node:path';
import { explainIssues } from './explain.js';
import { findLiteralSecrets } from './literal-secrets.js';
import { ConfigurationError } from './problems.js';
import { type ReadRequest, readSettings } from './read.js';
import { type Config, resolveConfig } from './resolve.js';
import { settingsSchema } from './schema.js';

/**
 * Makes a configuration of a file's text. (Design 9.)
 *
 * @throws ConfigurationError with everything that is wrong; where the text is no YAML, with that alone.
 */
export function parseConfig(request: ReadRequest): Config {
  const read = readSettings(request);
  const checked = settingsSchema.safeParse(read.tree);
  // Where a variable is missing, what stands there instead is no news.
  const unread = new Set(read.problems.map(({ path }) => path));
  const wrong = explainIssues(checked.error?.issues ?? [], settingsSchema, read).filter(
    ({ path }) => !unread.has(path),
  );
  if (!checked.success || read.problems.length > 0) {
    throw new ConfigurationError(request.file, [...read.problems, ...wrong]);
  }
  return resolveConfig(checked.data, {
    folder: dirname(resolve(request.file)),
    literalSecrets: findLiteralSecrets(settingsSchema, read),
  });
}
