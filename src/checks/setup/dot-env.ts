import { parseEnv } from 'node:util';

/** The text of `.env`. @throws RangeError for a value that `checkDotEnvValue` refuses */
export function renderDotEnv(values: readonly (readonly [variable: string, value: string])[]): string {
  const lines = values.map(([variable, value]) => `${variable}=${quote(value)}`);
  return `# Secrets: keep this file out of version control. Variables of the environment take precedence.\n${lines.join('\n')}\n`;
}

/** Says why `.env` can't hold a text; undefined if it can. */
export function checkDotEnvValue(value: string): string | undefined {
  return findQuoted(value) === undefined
    ? "expected a text without a mixture of ', \" and `: .env can't express it"
    : undefined;
}

function quote(value: string): string {
  const quoted = findQuoted(value);
  if (quoted === undefined) throw new RangeError('a value that .env cannot express');
  return quoted;
}

/** The format has no escapes, so the value decides on the quotes. A shell also reads the first two forms. */
function findQuoted(value: string): string | undefined {
  const plain = /^[\w./:@%+=-]*$/.test(value) ? [value] : [];
  return [...plain, `'${value}'`, `"${value}"`, `\`${value}\``].find(
    (written) => parseEnv(`NAME=${written}\nNEXT=1\n`).NAME === value,
  );
}
