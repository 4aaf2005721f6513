import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../../http/transport.js';
import type { Action } from '../../ledger/audit.js';
import { allowOnly, HttpError } from '../../server/http-error.js';
import { describeError } from '../../text/safe-error.js';
import { isFromOtherSite, readBody, readField } from '../routing/forms.js';
import {
  nobodyYet,
  type RegisterParts,
  sendPage,
  toAccessRequest,
  wantsPage,
  writeWho,
} from '../routing/register.js';
import { readReturnPath, renderSignIn, signInPath, signOutPath } from './sign-in-page.js';

type SignInParts = Pick<RegisterParts, 'access' | 'frame' | 'record' | 'clock' | 'log'>;

/** Adds the routes for signing in and out. Call it after the desk's routes are registered. */
export function addSignInRoutes(
  app: FastifyInstance,
  { access, frame, record, clock, log }: SignInParts,
): void {
  app.get(signInPath, async (request, reply) => {
    const to = readReturnPath(readField(request.query as Record<string, unknown>, 'to'));
    if (await access.identify(toAccessRequest(request))) return reply.redirect(to, 303);
    if (!(await access.hasUsers())) throw new HttpError(403, nobodyYet);
    return sendPage(reply, frame(renderSignIn({ to })));
  });

  app.post(signInPath, async (request, reply) => {
    if (isFromOtherSite(request)) throw new HttpError(403, 'this form is not from this page');
    const fields = readBody(request);
    const to = readReturnPath(readField(fields, 'to'));
    const name = readField(fields, 'name') ?? '';
    const refuse = (status: 401 | 403 | 429, problem: string): FastifyReply => {
      if (!wantsPage(request, 'page')) throw new HttpError(status, problem);
      return sendPage(reply.code(status), frame(renderSignIn({ to, name, problem })));
    };
    if (isPlainRemote(request)) return refuse(403, needsTls);
    const password = readField(fields, 'password') ?? '';
    const answer = await access.signIn({ name, password }, toAccessRequest(request));
    switch (answer.kind) {
      case 'signed-in':
        await note({ action: 'sign-in' }, writeWho(answer.visitor));
        reply.header('set-cookie', answer.cookie);
        return reply.redirect(to, 303);
      case 'wrong':
        await note({ action: 'sign-in-failed', details: { name: answer.knownName } }, 'serve');
        return refuse(401, 'The name or the password is wrong.');
      case 'slowed': {
        const { retryAfterSeconds: seconds } = answer;
        reply.header('retry-after', seconds);
        return refuse(
          429,
          `Too many attempts: try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
        );
      }
    }
  });
  allowOnly(app, ['GET', 'HEAD', 'POST'], signInPath);

  app.post(signOutPath, async (request, reply) => {
    const asking = toAccessRequest(request);
    const visit = await access.identify(asking);
    if (visit === undefined) return reply.redirect(signInPath, 303);
    if (isFromOtherSite(request) || access.isForged(visit, readField(readBody(request), 'token')))
      throw new HttpError(403, 'this form is too old, or not from this page: load the page and try again');
    reply.header('set-cookie', await access.signOut(asking));
    await note({ action: 'sign-out' }, writeWho(visit.visitor));
    return reply.redirect(signInPath, 303);
  });
  allowOnly(app, ['POST'], signOutPath);

  /** Someone woken by a full disk must still be able to sign in. */
  async function note(action: Action, who: string): Promise<void> {
    try {
      await record({ ...action, at: clock(), who });
    } catch (error) {
      log.error({ action: action.action, error: describeError(error) }, 'not recorded in the audit trail');
    }
  }
}

const needsTls =
  'Signing in from another machine needs https: over plain http, browsers keep no session, and anyone in between could read the password.';

/** Whether a browser reached this page over plain HTTP from another machine. */
function isPlainRemote({ headers: { origin = '' } }: FastifyRequest): boolean {
  return origin.startsWith('http://') && URL.canParse(origin) && !isLoopback(new URL(origin).hostname);
}
