import { parseEnv } from 'node:util';
import type { Answers } from './answers.js';
import { unknownWord } from './placeholders.js';

/** The variables that a written configuration asks for. */
export const variables = {
  apiKey: 'HOTEL_REVIEW_API_KEY',
  accountId: 'HOTEL_REVIEW_ACCOUNT_ID',
  sftpPassword: 'HOTEL_REVIEW_SFTP_PASSWORD',
} as const;

/** Those of a configuration with these answers, in the order in which they are written. */
export function listVariables({ sftp }: Answers): (keyof typeof variables)[] {
  return sftp !== undefined && sftp.keyFile === undefined
    ? ['apiKey', 'accountId', 'sftpPassword']
    : ['apiKey', 'accountId'];
}

/** The text of `.env`. A secret that is not known stands there as `change-me`. */
export function renderDotEnv(answers: Answers): string {
  const lines = listVariables(answers).map((name) => {
    const secret = answers.secrets[name];
    return `${variables[name]}=${secret === undefined ? unknownWord : quote(secret)}`;
  });
  return `# Secrets: keep this file out of version control. The environment's variables come before these.\n${lines.join('\n')}\n`;
}

/** Says why a text can't stand in `.env`; undefined when it can. */
export function checkDotEnvValue(value: string): string | undefined {
  return findQuoted(value) === undefined
    ? 'expected a text without a mixture of \', " and `, as .env has no way to write it'
    : undefined;
}

/** @throws RangeError for a value that `checkDotEnvValue` refuses */
function quote(value: string): string {
  const quoted = findQuoted(value);
  if (quoted === undefined) throw new RangeError('a value that .env has no way to write');
  return quoted;
}

/** The form has no escapes, so the quotes are chosen by what stands in the value. A shell, too, reads the first two. */
function findQuoted(value: string): string | undefined {
  const plain = /^[\w./:@%+=-]*$/.test(value) ? [value] : [];
  return [...plain, `'${value}'`, `"${value}"`, `\`${value}\``].find(
    (written) => parseEnv(`NAME=${written}\nNEXT=1\n`).NAME === value,
  );
}
