import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether both are the same, in a time that says nothing of how far they differ. */
export function isSameSecret(given: string, expected: string): boolean {
  // Digests are of one length, as the comparison needs it.
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
