import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares in a time that reveals nothing about where the two differ. */
export function isSameSecret(given: string, expected: string): boolean {
  // timingSafeEqual needs equal lengths, which digests have.
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
