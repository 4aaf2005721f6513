import type { AccessRequest, Visit } from '../../access/access.js';
import { readBearerToken } from '../../server/bearer-token.js';
import { type CheckCaller, WrongCredentialsError } from '../../server/caller.js';

const visit: Visit = {
  visitor: { name: 'end-of-day hook', role: 'viewer' },
  signedInBy: 'hook',
  csrfToken: undefined,
};
const emptyBody = new Uint8Array();

/** Undefined for a request without the hook's credentials. */
export type FindHookCaller = (request: AccessRequest) => Visit | undefined;

/** Recognises callers of the hook by its secret. A signature covers the empty body. */
export function createHookCallerFinder(checkCaller: CheckCaller): FindHookCaller {
  return (request) => {
    if (!hasCredentials(request)) return undefined;
    const { headers, remoteAddress = '' } = request;
    try {
      checkCaller({ headers, body: emptyBody, address: remoteAddress });
    } catch (error) {
      if (error instanceof WrongCredentialsError) return undefined;
      throw error;
    }
    return visit;
  };
}

/** Only the hook's: a password that a proxy asks people for is not a wrong one here. */
function hasCredentials({ headers }: AccessRequest): boolean {
  return readBearerToken(headers) !== undefined || 'webhook-signature' in headers;
}
