/** Without what no plain file name has: slashes, control characters, halves of characters. */
const anything = '[^/\\\\\\p{Cc}\\p{Cs}\\u2028\\u2029]';
const identifier = '([0-9A-Za-z-]{1,100})';

/**
 * Reads the part that the names of an export's files share out of a name that fits the pattern; undefined for any other
 * name. `{guid}` stands for that part, `{account}` for some characters, `*` for any number of them.
 */
export function createNameReader(pattern: string): (name: string) => string | undefined {
  const source = pattern
    .split(/(\{guid\}|\{account\}|\*)/)
    .map((part) => {
      if (part === '{guid}') return identifier;
      if (part === '{account}') return `${anything}+`;
      return part === '*' ? `${anything}*` : part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&');
    })
    .join('');
  const form = new RegExp(`^(?!\\.)${source}$`, 'u');
  return (name) => form.exec(name)?.[1];
}
