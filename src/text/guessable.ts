/** 24 random bytes, and their hexadecimal digits, practically never have fewer different ones. */
const fewest = 8;

/** Whether a secret consists of so few different bytes that it can't be random, such as `aaaa…` or `passwordpassword…`. */
export function isGuessable(secret: string | Uint8Array): boolean {
  return new Set(Buffer.from(secret)).size < fewest;
}
