import type { IncomingHttpHeaders } from 'node:http';
import { isSameSecret } from '../same-secret.js';

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
  const keyFits = isSameSecret(apikey, account.apiKey);
  const accountFits = isSameSecret(accountid, account.accountId);
  return keyFits && accountFits ? undefined : 'The headers apikey and accountId do not name an account.';
}
