import { parseEnv } from 'node:util';
import { unknownDatabase, unknownWord } from '../../config/placeholders.js';
import type { Answers } from '../answers/answers.js';
import { listSourceSecrets, type SecretName, variables } from '../answers/secrets.js';

/** Those of a configuration with these answers, in the order in which they are written. */
export function listVariables({ sftp, source }: Answers): readonly SecretName[] {
  const usesPassword = sftp !== undefined && sftp.keyFile === undefined;
  return [
    'apiKey',
    'accountId',
    ...(usesPassword ? (['sftpPassword'] as const) : []),
    ...listSourceSecrets(source),
  ];
}

/** What stands in the place of a secret that is not known. */
export function placeholderOf(name: SecretName): string {
  return name === 'sourceUrl' ? unknownDatabase : unknownWord;
}

/** The text of `.env`. A secret that is not known has a placeholder. */
export function renderDotEnv(answers: Answers): string {
  const lines = listVariables(answers).map(
    (name) => `${variables[name]}=${quote(answers.secrets[name] ?? placeholderOf(name))}`,
  );
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
