import type { Access, AccessRequest, Visit } from '../access/access.js';
import { readBearerToken } from '../server/bearer-token.js';
import { type CheckCaller, WrongCredentialsError } from '../server/caller.js';

const visit: Visit = {
  visitor: { name: 'end-of-day hook', role: 'viewer' },
  signedInBy: 'hook',
  csrfToken: undefined,
};
const emptyBody = new Uint8Array();

/**
 * Callers of the hook may look at the run that they started, with the token or secret of the hook. A signature covers the
 * empty body.
 */
export function admitHookCallers(access: Access, checkCaller: CheckCaller): Access {
  return {
    ...access,
    async identify(request) {
      const known = await access.identify(request);
      if (known || !hasCredentials(request)) return known;
      const { headers, remoteAddress = '' } = request;
      try {
        checkCaller({ headers, body: emptyBody, address: remoteAddress });
      } catch (error) {
        if (error instanceof WrongCredentialsError) return undefined;
        throw error;
      }
      return visit;
    },
  };
}

/** Only the hook's: a password that a proxy asks people for is not a wrong one here. */
function hasCredentials({ headers }: AccessRequest): boolean {
  return readBearerToken(headers) !== undefined || 'webhook-signature' in headers;
}
