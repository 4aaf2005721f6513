import type { NamedStay } from '../ledger/named-by-mails.js';

const dayMs = 86_400_000;

/**
 * Whether an e-mail about a mapping is about this booking: it was received after the booking's run began, and before its stay
 * was past in any time zone.
 */
export function isNamedByMapping(receivedAt: number, { sentAfter, checkIn }: NamedStay): boolean {
  // The dates of e-mails carry no milliseconds.
  if (receivedAt < sentAfter - (sentAfter % 1_000)) return false;
  return checkIn === undefined || receivedAt < Date.parse(checkIn) + 1.5 * dayMs;
}
