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
  // To compile a schema takes longer than to read one file by it.
  const checked = settingsSchema.safeParse(read.tree, { jitless: true });
  // Where a variable is missing, what stands there instead is no news.
  const unread = new Set(read.problems.map(({ path }) => path));
  const issues = checked.error?.issues ?? [];
  const wrong = explainIssues(issues, settingsSchema, read).filter(({ path }) => !unread.has(path));
  if (!checked.success || read.problems.length > 0) {
    throw new ConfigurationError(request.file, [...read.problems, ...wrong]);
  }
  return resolveConfig(checked.data, {
    folder: dirname(resolve(request.file)),
    literalSecrets: findLiteralSecrets(settingsSchema, read),
  });
}
