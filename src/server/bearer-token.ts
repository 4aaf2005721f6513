import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { shortestKey } from '../http/webhook-signature.js';
import { isGuessable } from '../text/guessable.js';

/** Whether a bearer token is long and varied enough to withstand guessing. */
export function isStrongToken(token: string): boolean {
  return Buffer.byteLength(token) >= shortestKey && !isGuessable(token);
}

/** The token of the header `authorization: Bearer TOKEN`. */
export function readBearerToken({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S|\S.*\S) *$/i.exec(authorization)?.[1];
}

/** Returns a function that says whether a text is this token; it takes the same time for any that is not. */
export function createTokenCheck(token: string): (given: string) => boolean {
  const own = digest(token);
  return (given) => timingSafeEqual(own, digest(given));
}

/** Digests have the same length, as the constant-time comparison requires. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
