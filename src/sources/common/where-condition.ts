import { cleanText, foldCase } from '../../booking/field-text.js';

type Scalar = string | number | boolean;
type Values = readonly Scalar[];
type Unwanted = Values | { readonly startsWith: readonly string[] };

/** What `source.where` says of a column: what its values must be, or must not be or begin with. */
export type Condition = Values | { readonly not: Unwanted };

const decimal = /^[+-]?\d+(?:\.\d+)?$/;

/** The notations of a boolean. What one of the first column's words stands for, the other notations stand for as well. */
const notations = [
  ['true', 't', '1'],
  ['false', 'f', '0'],
] as const;

/** The text of a record's value, cleaned like that of a booking: empty for a missing one, undefined for what is no text. */
export function readValue(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return cleanText(value);
    case 'undefined':
      return '';
    case 'number':
      return Number.isNaN(value) ? undefined : String(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value === null ? '' : undefined;
  }
}

/**
 * Whether a record's value in that column meets the condition. A number of the source is compared as a number, everything
 * else as words. Where one of both is a boolean, or the word for it, the other may also be written as `t` and `f`, or as 1
 * and 0, as databases do. A missing value is an empty text, and no boolean.
 */
export function createValueTest(condition: Condition): (value: unknown) => boolean {
  const isNamed = createNameTest(condition);
  return isNegated(condition) ? (value) => !isNamed(value) : isNamed;
}

export function isNegated(condition: Condition): condition is { readonly not: Unwanted } {
  return 'not' in condition;
}

/** Whether the condition names a record's value, be it to take or to leave out. */
export function createNameTest(condition: Condition): (value: unknown) => boolean {
  const named = isNegated(condition) ? condition.not : condition;
  return 'startsWith' in named ? createPrefixTest(named.startsWith) : createListTest(named);
}

function createPrefixTest(startsWith: readonly string[]): (value: unknown) => boolean {
  const prefixes = startsWith.map((text) => foldCase(text.trimStart()));
  return (value) => {
    const text = foldCase(readValue(value) ?? '');
    return prefixes.some((prefix) => text.startsWith(prefix));
  };
}

function createListTest(values: Values): (value: unknown) => boolean {
  const words = new Set<string>();
  const numbers = new Set<number>();
  for (const value of values) {
    if (typeof value === 'number') numbers.add(value);
    for (const word of listNotations(foldCase(readValue(value) ?? ''))) {
      words.add(word);
      if (decimal.test(word)) numbers.add(Number(word));
    }
  }
  return (value) => {
    if (typeof value === 'number') return numbers.has(value);
    const text = readValue(value);
    return text !== undefined && words.has(foldCase(text));
  };
}

function listNotations(word: string): readonly string[] {
  const all = notations.find((some) => some.some((one) => one === word));
  if (all === undefined) return [word];
  return word === all[0] ? all : [word, all[0]];
}

/** Whether the condition is a list of words, such as those of a state, and not of numbers, booleans or beginnings. */
export function isOfWords(condition: Condition): boolean {
  const named = isNegated(condition) ? condition.not : condition;
  if ('startsWith' in named) return false;
  const isWord = (value: Scalar) =>
    typeof value === 'string' &&
    value !== '' &&
    !decimal.test(value) &&
    !notations.flat().some((notation) => notation === foldCase(value));
  return named.some(isWord) && named.every((value) => value === '' || isWord(value));
}
