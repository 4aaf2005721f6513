const unsafeCharacter = /[/\\\p{Cc}\p{Cs}\u2028\u2029]/u;

/**
 * Whether this is a plain file name on every system, without a way out of its folder: not empty, no slash or backslash,
 * no leading dot, no control character, no lone surrogate. Does not check the length.
 */
export function isPlainName(name: string): boolean {
  return name !== '' && !name.startsWith('.') && !unsafeCharacter.test(name);
}

/** In bytes of UTF-8; leaves room for what the archive adds to a name. */
const longestForeignName = 170;
/** Invisible characters, and the sign for bytes that are not UTF-8: such a file can't be requested by its name. */
const misleadingCharacter = /[\p{Cf}\uFFFD]/u;

/** Whether a name that somebody else's server chose can be used as it is: in a path, in the archive, on a terminal. */
export function isUsableForeignName(name: string): boolean {
  return (
    isPlainName(name) && !misleadingCharacter.test(name) && Buffer.byteLength(name) <= longestForeignName
  );
}
