import type { Access, Visit } from '../access/access.js';
import { createBackOff } from '../access/back-off.js';
import { type CallerSettings, createCallerCheck, WrongCredentialsError } from '../server/caller.js';

const visit: Visit = {
  visitor: { name: 'end-of-day hook', role: 'viewer' },
  signedInBy: 'hook',
  csrfToken: undefined,
};
const emptyBody = new Uint8Array();

/**
 * Callers of the hook may look at the run that they started, with the token or secret of the hook: a signature is over the
 * empty body. After several wrong ones an address is nobody for a while.
 */
export function admitHookCallers(access: Access, settings: CallerSettings, clock: () => number): Access {
  if (settings.secrets.length + settings.tokens.length === 0) return access;
  const check = createCallerCheck(settings);
  const backOff = createBackOff(clock);
  return {
    ...access,
    async identify(request) {
      const known = await access.identify(request);
      const { headers, remoteAddress = '' } = request;
      const hasCredentials = headers.authorization !== undefined || 'webhook-signature' in headers;
      if (known || !hasCredentials || backOff.findWait(remoteAddress) > 0) return known;
      try {
        check({ headers, body: emptyBody, at: clock() });
      } catch (error) {
        if (!(error instanceof WrongCredentialsError)) throw error;
        backOff.recordFailure(remoteAddress);
        return undefined;
      }
      backOff.recordSuccess(remoteAddress);
      return visit;
    },
  };
}
