import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The customer's account, as its two headers name it. (Spec 5.) */
export interface Account {
  readonly apiKey: string;
  readonly accountId: string;
}

/** Why a request's headers are not those of the account; undefined when they are. It never quotes what was sent. */
export function findAccountObjection(headers: IncomingHttpHeaders, account: Account): string | undefined {
  const { apikey, accountid } = headers;
  if (typeof apikey !== 'string' || apikey === '') return 'The header apikey is missing.';
  if (typeof accountid !== 'string' || accountid === '') return 'The header accountId is missing.';
  // Both are compared, in constant time: how long it takes says nothing of which was wrong, or how far.
  const keyFits = isSame(apikey, account.apiKey);
  const accountFits = isSame(accountid, account.accountId);
  return keyFits && accountFits ? undefined : 'The headers apikey and accountId do not name an account.';
}

function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

/** Digests are of one length, as the comparison needs it. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
