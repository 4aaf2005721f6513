const padding = /[\s\p{Cc}\p{Cf}'"\u2019=]/u;

/**
 * A reference without what spreadsheets and databases change on the way: letter case, padding (white space, leading
 * zeros), and the quotes, apostrophes and formulas that keep an id a text.
 */
export function foldReference(reference: string): string {
  let start = 0;
  let end = reference.length;
  while (start < end && padding.test(reference.charAt(start))) start += 1;
  while (end > start && padding.test(reference.charAt(end - 1))) end -= 1;
  while (start < end - 1 && reference[start] === '0') start += 1;
  return reference.slice(start, end).toLowerCase();
}

/** What a reference has in common with other spellings of it. If that is nothing, it has none. */
export function spellingOf(reference: string): string {
  return foldReference(reference) || `=${reference}`;
}
