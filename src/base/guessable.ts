/** 24 random bytes, and their hexadecimal digits, practically never have fewer different ones. */
const fewest = 8;
/** Enough to judge by: in a very long text of few different characters, even random ones repeat. */
const judged = 100;

/**
 * Whether a secret is so uniform that it can't be random: it consists of few different bytes, such as `aaaa…`, or repeats a
 * pattern, such as `password1password1…`.
 */
export function isGuessable(secret: string | Uint8Array): boolean {
  const bytes = Buffer.from(secret);
  return new Set(bytes).size < fewest || repeats(bytes.toString('latin1', 0, judged));
}

/** Where a text repeats itself, so do its parts of three characters. Among random ones, hardly any occurs twice. */
function repeats(text: string): boolean {
  const parts = Array.from({ length: Math.max(0, text.length - 2) }, (_, at) => text.slice(at, at + 3));
  return new Set(parts).size * 3 < parts.length * 2;
}
