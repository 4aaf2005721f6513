/** A text as the source of a regular expression that matches it alone. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** A letter or digit, or what joins two of them to one value: `BR-1` and `BR-10`, `BR-1-2`, `BR-1/2` are different. */
const inside = String.raw`[\p{L}\p{M}\p{N}]`;
const joint = '[-_./]';

/** Finds a text where it is a value of its own, and not a part of a longer one. */
export function createWholePattern(text: string): RegExp {
  const isAfter = `(?<!${inside}|${inside}${joint})`;
  const isBefore = `(?!${inside}|${joint}${inside})`;
  return new RegExp(`${isAfter}${escapePattern(text)}${isBefore}`, 'gu');
}
