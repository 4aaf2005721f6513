import { stringify } from 'yaml';

/** A value on one line, as a configuration has it. A text that looks like a variable is meant literally. */
export function writeYaml(value: unknown): string {
  const literal = toLiteral(value);
  // JSON is YAML, and has no line ends in a text.
  return hasControls(literal)
    ? JSON.stringify(literal)
    : stringify(literal, { collectionStyle: 'flow', lineWidth: 0 }).replace(/\n$/, '');
}

/** The names in a group are no texts with variables. */
function toLiteral(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${');
  if (Array.isArray(value)) return value.map(toLiteral);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toLiteral(member)]));
}

function hasControls(value: unknown): boolean {
  if (typeof value === 'string') return /\p{Cc}/u.test(value);
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(hasControls);
}
