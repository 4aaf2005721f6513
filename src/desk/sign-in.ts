import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formatCountOf } from '../base/format.js';
import { html } from '../base/html.js';
import type { Action } from '../rules/action.js';
import { senderOf } from './access/caller.js';
import { renderFrame } from './frame.js';
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
  wantsPage,
  writeWho,
} from './serve-pages.js';
import { allowOnly, HttpError } from './server/http-error.js';

/** Adds the routes for signing in and out. Call it after the desk's routes are registered. */
export function addSignInRoutes(
  app: FastifyInstance,
  { access, assets, record, desk, log }: RegisterParts,
): void {
  app.get(signInPath, async (request, reply) => {
    const to = readReturnPath(readField(request.query as Record<string, unknown>, 'to'));
    if (await access.identify(senderOf(request))) return reply.redirect(to, 303);
    refuseWrongAddress(request);
    if (!(await access.hasUsers())) throw new HttpError(403, nobodyYet);
    return sendForm(request, reply, { to });
  });

  app.post(signInPath, async (request, reply) => {
    const sender = senderOf(request);
    const fields = readBody(request);
    refuseWrongAddress(request);
    if (isFromOtherSite(request) || !(await access.isOwnForm(sender, readField(fields, 'token'))))
      throw new HttpError(403, notOurForm);
    const to = readReturnPath(readField(fields, 'to'));
    const name = readField(fields, 'name') ?? '';
    const password = readField(fields, 'password') ?? '';
    const answer = await access.signIn({ name, password }, sender);
    if (answer.kind === 'signed-in') {
      await note({ action: 'sign-in' }, writeWho(answer.visitor));
      return reply.header('set-cookie', answer.cookies).redirect(to, 303);
    }
    const refuse = (status: 401 | 429, problem: string): Promise<FastifyReply> => {
      log.info({ path: signInPath, status, caller: answer.address }, 'sign-in refused');
      if (!wantsPage(request, 'page')) throw new HttpError(status, problem);
      return sendForm(request, reply.code(status), { to, last: { name, problem } });
    };
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
    const sender = senderOf(request);
    const visit = await access.identify(sender);
    if (visit === undefined) return reply.redirect(signInPath, 303);
    refuseForged(visit, request);
    reply.header('set-cookie', await access.signOut(sender));
    await note({ action: 'sign-out' }, writeWho(visit.visitor));
    return reply.redirect(signInPath, 303);
  });
  allowOnly(app, 'POST', signOutPath);

  /** @throws HttpError 403 */
  function refuseWrongAddress(request: FastifyRequest): void {
    const fault = access.findFault(senderOf(request));
    if (fault !== undefined) throw new HttpError(403, fault, {}, 'wrong-host');
  }

  async function sendForm(request: FastifyRequest, reply: FastifyReply, form: SignInForm) {
    const { token, setCookie } = await access.openForm(senderOf(request));
    if (setCookie !== undefined) reply.header('set-cookie', setCookie);
    return sendPage(reply, renderFrame(assets, renderSignIn(form, token)));
  }

  function note(action: Action, who: string): Promise<void> {
    return record({ ...action, at: desk.clock(), who }).catch(logUnrecorded(log, action));
  }
}

const notOurForm =
  'signing in needs the form of this page, or the header Origin with the address of this page: if a proxy is in front, it must pass on Host and Origin as the browser sent them';

const signInPath = '/sign-in';
const signOutPath = '/sign-out';

interface SignInForm {
  /** The page to continue at. */
  readonly to: string;
  /** As typed in the last attempt, and why it failed. */
  readonly last?: { readonly name: string; readonly problem: string };
}

function renderSignIn({ to, last }: SignInForm, token: string | undefined): View {
  return {
    title: 'Sign in',
    content: html`${last && html`<p class="card refusal" role="alert">${last.problem}</p>`}
<form class="card change sign-in" method="post" action="${signInPath}"><input type="hidden" name="to" value="${to}">
<input type="hidden" name="token" value="${token ?? ''}">
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
