import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { codeOf } from '../base/safe-error.js';
import { checkS3Endpoint } from '../transports/s3/bucket.js';
import { readText } from './read-text.js';

/** `$${`, `${NAME}`, `${file:PATH}`, or a `${` that is none of them. */
const reference = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)|file:([^{}]+))\}|\$\{/g;

/** Where a value that is not written in the configuration comes from. */
export type Origin = 'environment' | 'file';

/**
 * Replaces `${NAME}` and `${file:PATH}`; `$${` is a literal `${`. Inserted values are taken literally, even if they hold a `${`.
 *
 * @param folder the base of relative paths
 * @returns `origin`: where a part came from, or should have come from, undefined if the text has no references. `complaints` name the
 *   missing variables, and quote nothing else from the text
 */
export function substituteVariables(text: string, env: NodeJS.ProcessEnv, folder: string) {
  const complaints: string[] = [];
  let origin = undefined as Origin | undefined;
  const filled = text.replace(
    reference,
    (written: string, name: string | undefined, path: string | undefined) => {
      if (written === '$${') return '${';
      if (origin !== 'environment') origin = path === undefined ? 'environment' : 'file';
      if (path !== undefined) {
        const { content = '', complaint } = readSecretFile(resolve(folder, path));
        if (complaint !== undefined) complaints.push(complaint);
        return content;
      }
      const value = name === undefined ? undefined : env[name];
      if (name === undefined) {
        complaints.push(
          `expected \${NAME} with a name of letters, digits and _, or \${file:PATH} (a literal \${ is written $\${), got: another form`,
        );
      } else if (!value) {
        const got = value === undefined ? 'nothing' : 'an empty text';
        complaints.push(`expected a value in the environment variable ${name}, got: ${got}`);
      }
      return value ?? '';
    },
  );
  return { filled, origin, complaints };
}

/** Far more than any secret needs. */
const largestSecret = 65_536;

/** The content of a file, without the line end that editors append. Errors never quote it. */
function readSecretFile(path: string): { readonly content?: string; readonly complaint?: string } {
  const name = JSON.stringify(path);
  try {
    const bytes = readFileSync(path);
    if (bytes.length > largestSecret)
      return { complaint: `expected a secret in the file ${name}, got: too much` };
    const content = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
    return content === ''
      ? { complaint: `expected a value in the file ${name}, got: an empty text` }
      : { content };
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    return code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
      ? { complaint: `expected a text in UTF-8 in the file ${name}, got: other bytes` }
      : { complaint: `the file ${name} cannot be read (${code})` };
  }
}

/** HTTPS_PROXY and NO_PROXY, as most programs read them: in small letters first. */
export function readProxyRules(env: NodeJS.ProcessEnv) {
  const name = env.https_proxy ? 'https_proxy' : 'HTTPS_PROXY';
  const written = env[name];
  if (!written) return { proxy: {}, problems: [] };
  const url = written.includes('://') ? written : `http://${written}`;
  const message =
    'expected an address such as http://user:p%40ssword@proxy.example.com:3128, got: another text';
  const direct = (env.no_proxy || env.NO_PROXY || '').split(/[\s,]+/).filter(Boolean);
  return { proxy: { url, direct }, problems: isProxyAddress(url) ? [] : [{ path: name, message }] };
}

/** Amazon's own variables. What they leave out comes from the profile or the role of the machine. */
export function readS3Account(env: NodeJS.ProcessEnv) {
  const name = env.AWS_ENDPOINT_URL_S3 ? 'AWS_ENDPOINT_URL_S3' : 'AWS_ENDPOINT_URL';
  const endpoint = env[name] || undefined;
  const message = endpoint === undefined ? undefined : checkS3Endpoint(endpoint);
  return {
    s3: {
      endpoint,
      region: env.AWS_REGION || env.AWS_DEFAULT_REGION || undefined,
      accessKeyId: env.AWS_ACCESS_KEY_ID || undefined,
      secretAccessKey: env.AWS_SECRET_ACCESS_KEY || undefined,
      sessionToken: env.AWS_SESSION_TOKEN || undefined,
    },
    problems: message === undefined ? [] : [{ path: name, message }],
  };
}

function isProxyAddress(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    decodeURIComponent(username + password);
    return /^https?:$/.test(protocol);
  } catch {
    return false;
  }
}

/** Expected beside the configuration file. */
export const dotEnvName = '.env';

/** The variables of a `.env` file, in the format of `node --env-file`; none if there is no such file. @throws ConfigurationError */
export async function readDotEnv(file: string): Promise<NodeJS.Dict<string>> {
  return parseEnv((await readText(file)) ?? '');
}
