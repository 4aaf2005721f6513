const unsafeCharacter = /[/\\\p{Cc}\p{Cs}\u2028\u2029]/u;

/**
 * Whether that is a plain file name everywhere, of a file inside its folder: not empty, no slash of either kind, no
 * leading dot, no control character, no half of a character. Its length is not looked at.
 */
export function isPlainName(name: string): boolean {
  return name !== '' && !name.startsWith('.') && !unsafeCharacter.test(name);
}
