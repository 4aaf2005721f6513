import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { codeOf } from '../text/safe-error.js';
import { ConfigurationError } from './problems.js';

/** `$${`, `${NAME}`, or a `${` that is neither. */
const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;

interface Substitution {
  readonly filled: string;
  /** Whether any part came, or should have come, from the environment. */
  readonly isFromEnvironment: boolean;
  /** The missing variables, by name. They quote nothing else of the text. */
  readonly complaints: readonly string[];
}

/**
 * Replaces `${NAME}`; `$${` is a literal `${`. The value of a variable is taken literally, even if it holds a `${`.
 */
export function substituteVariables(text: string, env: NodeJS.ProcessEnv): Substitution {
  const complaints: string[] = [];
  let isFromEnvironment = false;
  const filled = text.replace(reference, (written: string, name: string | undefined) => {
    if (written === '$${') return '${';
    isFromEnvironment = true;
    const value = name === undefined ? undefined : env[name];
    if (name === undefined) {
      complaints.push(
        `expected \${NAME} with a name of letters, digits and _ (a literal \${ is written $\${), got: another form`,
      );
    } else if (!value) {
      const got = value === undefined ? 'nothing' : 'an empty text';
      complaints.push(`expected a value in the environment variable ${name}, got: ${got}`);
    }
    return value ?? '';
  });
  return { filled, isFromEnvironment, complaints };
}

/** The file is beside the configuration file. */
export const dotEnvName = '.env';

/**
 * The variables of a `.env` file, in the format of `node --env-file`; none if there is no such file. Errors never quote its
 * content.
 *
 * @throws ConfigurationError if it exists and can't be read
 */
export async function readDotEnv(file: string): Promise<NodeJS.Dict<string>> {
  try {
    return parseEnv(new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file)));
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    if (code === 'ENOENT') return {};
    const message =
      code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
        ? 'expected a text in UTF-8, got: other bytes'
        : `cannot be read (${code})`;
    throw new ConfigurationError(file, [{ path: file, message }]);
  }
}
