import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../http/transport.js';
import type { Action } from '../ledger/audit.js';
import { allowOnly, HttpError } from '../server/http-error.js';
import { formatCountOf } from '../text/format.js';
import { html } from '../text/html.js';
import type { View } from './page.js';
import {
  isFromOtherSite,
  logUnrecorded,
  nobodyYet,
  type RegisterParts,
  readBody,
  readField,
  refuseForged,
  sendPage,
  toAccessRequest,
  wantsPage,
  writeWho,
} from './serve-pages.js';

/** Adds the routes for signing in and out. Call it after the desk's routes are registered. */
export function addSignInRoutes(
  app: FastifyInstance,
  { access, frame, record, desk, log }: RegisterParts,
): void {
  app.get(signInPath, async (request, reply) => {
    const to = readReturnPath(readField(request.query as Record<string, unknown>, 'to'));
    if (await access.identify(toAccessRequest(request))) return reply.redirect(to, 303);
    if (!(await access.hasUsers())) throw new HttpError(403, nobodyYet);
    return sendPage(reply, frame(renderSignIn(to)));
  });

  app.post(signInPath, async (request, reply) => {
    if (isFromOtherSite(request)) throw new HttpError(403, 'this form is not from this page');
    const fields = readBody(request);
    const to = readReturnPath(readField(fields, 'to'));
    const name = readField(fields, 'name') ?? '';
    const refuse = (status: 401 | 403 | 429, problem: string): FastifyReply => {
      if (!wantsPage(request, 'page')) throw new HttpError(status, problem);
      return sendPage(reply.code(status), frame(renderSignIn(to, { name, problem })));
    };
    if (isPlainRemote(request)) return refuse(403, needsTls);
    const password = readField(fields, 'password') ?? '';
    const answer = await access.signIn({ name, password }, toAccessRequest(request));
    if (answer.kind === 'signed-in') {
      await note({ action: 'sign-in' }, writeWho(answer.visitor));
      return reply.header('set-cookie', answer.cookie).redirect(to, 303);
    }
    if (answer.kind === 'wrong') {
      await note({ action: 'sign-in-failed', details: { name: answer.knownName } }, 'serve');
      return refuse(401, 'The name or the password is wrong.');
    }
    const seconds = answer.retryAfterSeconds;
    reply.header('retry-after', seconds);
    return refuse(429, `Too many attempts: try again in ${formatCountOf(seconds, 'second')}.`);
  });
  allowOnly(app, 'GET, HEAD, POST', signInPath);

  app.post(signOutPath, async (request, reply) => {
    const asking = toAccessRequest(request);
    const visit = await access.identify(asking);
    if (visit === undefined) return reply.redirect(signInPath, 303);
    refuseForged(access, visit, request);
    reply.header('set-cookie', await access.signOut(asking));
    await note({ action: 'sign-out' }, writeWho(visit.visitor));
    return reply.redirect(signInPath, 303);
  });
  allowOnly(app, 'POST', signOutPath);

  function note(action: Action, who: string): Promise<void> {
    return record({ ...action, at: desk.clock(), who }).catch(logUnrecorded(log, action));
  }
}

const needsTls =
  'Signing in from another machine needs https: over plain http, browsers keep no session, and anyone in between could read the password.';

/** Whether a browser reached this page over plain HTTP from another machine. */
function isPlainRemote({ headers: { origin = '' } }: FastifyRequest): boolean {
  return origin.startsWith('http://') && URL.canParse(origin) && !isLoopback(new URL(origin).hostname);
}

const signInPath = '/sign-in';
const signOutPath = '/sign-out';

/** @param last as typed in the last attempt, and why it failed */
function renderSignIn(to: string, last?: { readonly name: string; readonly problem: string }): View {
  return {
    title: 'Sign in',
    content: html`${last && html`<p class="card refusal" role="alert">${last.problem}</p>`}
<form class="card change sign-in" method="post" action="${signInPath}"><input type="hidden" name="to" value="${to}">
<label>Name<input name="name" value="${last?.name ?? ''}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="100" required${last ? undefined : html` autofocus`}></label>
<label>Password<input name="password" type="password" autocomplete="current-password" maxlength="1000" required${last && html` autofocus`}></label>
<p class="buttons"><button>Sign in</button></p></form>`,
  };
}

const longestPath = 2_000;

/** The page to continue at: always a path of this server. */
export function readReturnPath(written: string | undefined): string {
  if (written === undefined || written.length > longestPath || !written.startsWith('/')) return '/';
  const base = 'http://desk.invalid';
  if (!URL.canParse(written, base)) return '/';
  // Only path and query are kept, whatever host was given.
  const { pathname, search } = new URL(written, base);
  // Resolving dots may leave two leading slashes, which browsers take for another host.
  return pathname.startsWith('//') || pathname === signInPath ? '/' : `${pathname}${search}`;
}
