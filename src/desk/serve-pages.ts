import { createHmac } from 'node:crypto';
import { type ParsedUrlQuery, parse as parseQuery } from 'node:querystring';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { answerWithin, orAborted, startTimeLimit, TooLateError } from '../base/abort.js';
import { createGate } from '../base/concurrent-work.js';
import { html } from '../base/html.js';
import { describeError } from '../base/safe-error.js';
import { businessDayAt } from '../booking/business-day.js';
import type { Action, RecordedAction } from '../rules/action.js';
import { may, type Visitor } from '../storage/access/roles.js';
import { type Access, isOfScript, type Visit } from './access/access.js';
import { type Sender, senderOf } from './access/caller.js';
import { isSame } from './access/sessions.js';
import { type Assets, renderFrame } from './frame.js';
import type { ChangeAction, DeskParts, DeskRoute, DeskVisit, Download, Look, Page, View } from './page.js';
import { renderChangeForm } from './parts.js';
import { see } from './see.js';
import { type CheckCaller, readBearerToken, WrongCredentialsError } from './server/check-caller.js';
import {
  allowOnly,
  answerError,
  HttpError,
  nothingHere,
  type ServerLog,
  sendError,
  stopping,
  tryLater,
} from './server/http-error.js';

export interface RegisterParts {
  readonly desk: DeskParts;
  readonly access: Access;
  /** Whoever may call the hook may also see the runs that it started. */
  readonly checkCaller?: CheckCaller | undefined;
  readonly assets: Assets;
  /** @throws if the audit trail can't be written to: then nothing is changed */
  readonly record: (action: RecordedAction) => Promise<void>;
  /** Aborts when the process stops. */
  readonly signal: AbortSignal;
  /** How long a caller waits for the ledger, in milliseconds. */
  readonly answerMs: number;
  readonly log: ServerLog;
}

/** Our own style and script, and nothing else. */
const contentPolicy = [
  "default-src 'none'",
  ...['style-src', 'script-src', 'connect-src', 'img-src', 'form-action'].map((source) => `${source} 'self'`),
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentPolicy,
  // With `no-referrer`, browsers would also hide where a form comes from.
  'referrer-policy': 'same-origin',
};

/** Adds the routes of the desk to a server: the one place that checks sessions, permissions and forged forms. */
export function registerRoutes(
  app: FastifyInstance,
  routes: readonly DeskRoute[],
  parts: RegisterParts,
): void {
  const { desk, access, assets, log } = parts;
  const waitForPermit = limitExpensiveWork();
  /** Who asks, found out once: of requests that passed the checks of the server, because none of another host may learn it. */
  const visits = new WeakMap<FastifyRequest, Promise<Visit | undefined>>();
  app.addHook('onRequest', async (request) => {
    const visit = access.identify(senderOf(request));
    // Thrown where it is asked for: a damaged users' file breaks neither assets nor error pages.
    visit.catch(() => {});
    visits.set(request, visit);
  });
  acceptForms(app);
  app.setErrorHandler(async (error, request, reply) => {
    const answer = answerError(log, request, error);
    if (!wantsPage(request, 'data')) return sendError(reply, answer);
    if (answer.status === 401 && request.method === 'GET')
      return reply.redirect(`/sign-in?to=${encodeURIComponent(request.url)}`, 303);
    const found = await visits.get(request)?.catch(() => undefined);
    const visit = found && toDeskVisit(found, request, reply);
    const page = renderFrame(assets, renderError(answer), visit);
    return sendPage(reply.code(answer.status).headers(answer.headers), page);
  });
  for (const asset of Object.values(assets)) addAsset(app, asset);
  for (const route of routes) {
    app.get(route.path, async (request, reply) => {
      const asked = await admit(request, reply, route);
      if (route.kind === 'page') return showPage(route, asked);
      if (route.kind === 'action') return showPreview(route, asked);
      return download(route, asked);
    });
    if (route.kind === 'action')
      app.post(route.path, async (request, reply) => change(route, await admit(request, reply, route)));
    allowOnly(app, route.kind === 'action' ? 'GET, HEAD, POST' : 'GET, HEAD', route.path);
  }
  // People who follow an old link get a page, too.
  app.get('*', async () => {
    throw nothingHere();
  });

  /** What a visitor asks for who has the permission. */
  async function admit(request: FastifyRequest, reply: FastifyReply, route: DeskRoute) {
    const sender = senderOf(request);
    const checkCaller = 'isStartedByHook' in route ? parts.checkCaller : undefined;
    const visit = (await visits.get(request)) ?? (checkCaller && findHookCaller(checkCaller, sender));
    if (!visit)
      throw (await access.hasUsers())
        ? new HttpError(401, 'sign in first: /sign-in')
        : new HttpError(403, nobodyYet);
    const { role } = visit.visitor;
    if (!may(role, route.permission)) throw new HttpError(403, `the role ${role} may not do this`);
    if (visit.setCookie) reply.header('set-cookie', visit.setCookie);
    const input = parse(route.input, { ...(request.query as object), ...(request.params as object) });
    return { request, reply, input, visit: toDeskVisit(visit, request, reply) };
  }

  type Asked = Awaited<ReturnType<typeof admit>>;

  async function showPage(page: Page, asked: Asked) {
    const { request, input, visit } = asked;
    const isPage = wantsPage(request, page.json === 'usually' ? 'data' : 'page');
    if (!isPage && page.json === undefined) throw new HttpError(406, peopleOnly);
    const data = see(await perform(page, visit, (reading) => page.read(input, reading)), visit);
    if (visit.signedInBy === 'hook' && !page.isStartedByHook?.(data)) throw new HttpError(403, hooksRunsOnly);
    const look = page.audit?.(data, input);
    if (look) await recordLook(look, visit);
    return isPage ? sendView(asked, page.render(data, visit)) : asked.reply.send(data);
  }

  async function showPreview(action: ChangeAction, asked: Asked) {
    const { request, reply, input, visit } = asked;
    const preview = await perform(action, visit, (reading) => action.preview(input, reading));
    if (wantsPage(request, 'page')) return sendView(asked, renderChangeForm(action, preview, visit));
    const { fields, details, data, ...words } = preview;
    return reply.send({ ...data, ...words, token: visit.csrfToken ?? null });
  }

  async function change(action: ChangeAction, { request, reply, input, visit }: Asked) {
    const body = readBody(request);
    refuseForged(visit, request);
    const form = { ...parse(action.form, body), reason: readReason(action, body) };
    const audited = action.audit?.(input, form);
    const details = { ...audited?.details, ...(form.reason && { reason: form.reason }) };
    if (audited) await record({ ...audited, details }, visit);
    const { message, next } = await action.perform(input, form, visit);
    if (!wantsPage(request, 'page')) return reply.send({ message, next });
    const cookie = access.cookieFor(request, 'hotel-review-message');
    return reply.header('set-cookie', cookie.render(sealMessage(message, visit), 60)).redirect(next, 303);
  }

  async function download(route: Download, { reply, input, visit }: Asked) {
    const { audit, contentType } = route;
    const file = await perform(route, visit, (reading) => route.open(input, reading), longestDownloadMs);
    const audited = audit?.(input, file);
    if (audited) await record(audited, visit);
    return reply
      .headers({
        'content-type': contentType,
        'content-disposition': `attachment; filename="${file.name.replace(/[^\w.-]/g, '_')}"`,
      })
      .send(Readable.from(file.content));
  }

  /** Reads what a visitor asks for, until there is an answer, the time is up or the visitor has left. */
  async function perform<Answer>(
    route: DeskRoute,
    visit: DeskVisit,
    read: (reading: DeskVisit) => Promise<Answer>,
    withinMs = route.cost === 'expensive' ? largePageTimes * parts.answerMs : parts.answerMs,
  ): Promise<Answer> {
    const leave = route.cost === 'expensive' ? await waitForPermit(visit.signal) : () => {};
    const limit = startTimeLimit(visit.signal, withinMs, () => new TooLateError(withinMs));
    const { signal } = limit;
    async function readAndLeave(): Promise<Answer> {
      try {
        return await read({ ...visit, signal, desk: { ...desk, ledger: desk.ledger.stoppedBy(signal) } });
      } finally {
        // Not before the work has ended: a database that does not answer holds the permit.
        limit.stop();
        leave();
      }
    }
    try {
      return await answerWithin(withinMs, readAndLeave());
    } catch (error) {
      throw parts.signal.aborted ? stopping() : error;
    }
  }

  function record(action: Action, { visitor, now }: DeskVisit): Promise<void> {
    return parts.record({ ...action, at: now, who: writeWho(visitor) });
  }

  function recordLook({ revealsNames, ...action }: Look, visit: DeskVisit): Promise<void> {
    const recorded = record(action, visit);
    return revealsNames ? recorded : recorded.catch(logUnrecorded(log, action));
  }

  function toDeskVisit(visit: Visit, request: FastifyRequest, reply: FastifyReply): DeskVisit {
    const { timezone } = desk;
    const now = desk.clock();
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    return {
      ...visit,
      desk,
      may: (permission) => may(visit.visitor.role, permission),
      now,
      today: businessDayAt(new Date(now), timezone).iso,
      timezone,
      address: request.url,
      signal: AbortSignal.any([gone.signal, parts.signal]),
    };
  }

  function sendView({ request, reply, visit }: Asked, view: View) {
    // A page that looks again by itself shows none: it would take that of another window.
    const cookie = isOfScript(request.headers)
      ? undefined
      : access.cookieFor(request, 'hotel-review-message');
    const message = cookie && openMessage(cookie.read(request.headers), visit);
    if (message !== undefined) reply.header('set-cookie', cookie?.clear());
    return sendPage(reply, renderFrame(assets, view, visit, message));
  }
}

/** Two large pages and a review share a processor: a page that would take a second then takes several. */
const largePageTimes = 4;
/** Browsers and proxies wait no longer for the first byte. */
const longestDownloadMs = 60_000;

export function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers(pageHeaders).send(page);
}

/** Whether a caller gets a page or its data. Browsers accept `text/html`; programs accept JSON, or anything. */
export function wantsPage({ headers }: FastifyRequest, usually: 'page' | 'data'): boolean {
  const { accept = '' } = headers;
  const named = accept.split(',').map((part) => part.split(';')[0]?.trim().toLowerCase());
  if (named.includes('text/html')) return true;
  if (named.includes('application/json')) return false;
  return usually === 'page';
}

const hooksRunsOnly = 'the credentials of the hook only open the runs that it started';

const peopleOnly =
  'this page is only for people: ask for text/html. JSON is the answer of days, a day, a run, cases, a case, a booking and providers';

/** For what works without a record, too: someone woken by a full disk must still be able to sign in and look. */
export function logUnrecorded(log: ServerLog, { action }: Action): (error: unknown) => void {
  return (error) => log.error({ action, error: describeError(error) }, 'not recorded in the audit trail');
}

/** How the audit trail names a visitor. */
export function writeWho({ name }: Visitor): string {
  return `${name} (desk)`;
}

/** Why pages are refused if other machines could read them and there are no users. */
export const nobodyYet =
  'nobody can sign in yet: set server.users in the configuration, and add somebody with `hotel-review user add NAME --role admin`';

/** @throws HttpError 400 that names what is wrong */
function parse<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(given);
  if (!error) return data;
  const [issue] = error.issues;
  const path = issue?.path.join('.') || 'the request';
  throw new HttpError(400, `${path}: ${issue?.message ?? 'not understood'}`);
}

const longestReason = 500;

function readReason({ reason }: ChangeAction, body: ParsedUrlQuery): string {
  const given = readField(body, 'reason')?.trim() ?? '';
  if (given === '' && reason === 'required') throw new HttpError(400, 'reason: say why, for the audit trail');
  if (given.length > longestReason) throw new HttpError(400, `reason: at most ${longestReason} characters`);
  return given;
}

function addAsset(app: FastifyInstance, { path, contentType, content }: Assets['style']): void {
  const headers = { 'content-type': contentType, 'cache-control': 'public, max-age=31536000, immutable' };
  app.get(path, (_request, reply) => reply.headers(headers).send(content));
  allowOnly(app, 'GET, HEAD', path);
}

function renderError({ status, message }: HttpError): View {
  return {
    title: errorTitles[status] ?? (status >= 500 ? 'Something went wrong' : 'That did not work'),
    content: html`<p>${message}</p><p><a href="/">To the days</a></p>`,
  };
}

const errorTitles: Readonly<Partial<Record<number, string>>> = {
  403: 'Not allowed',
  404: 'Not found',
  503: 'Try again in a moment',
};

/** Enough for a selection of many cases. */
const largestForm = 64 * 1024;

/** Forms are read here only; other routes of the server get no parsed body. */
function acceptForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: largestForm },
    // A field given several times becomes a list.
    (_request, body, done) => done(null, parseQuery(String(body), '&', '=', { maxKeys: 0 })),
  );
}

export function readBody({ body }: FastifyRequest): ParsedUrlQuery {
  if (typeof body !== 'object' || body === null)
    throw new HttpError(415, 'expected the fields of a form: application/x-www-form-urlencoded');
  return body as ParsedUrlQuery;
}

/** The first value of a field. */
export function readField(body: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = [body[name]].flat()[0];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a browser says that another site sent this. */
export function isFromOtherSite({ headers: { 'sec-fetch-site': site } }: FastifyRequest): boolean {
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/** @throws HttpError 403 for a form that is not from a page of this visit */
export function refuseForged({ csrfToken }: Visit, request: FastifyRequest): void {
  const token = readField(readBody(request), 'token');
  const isOurs = csrfToken !== undefined && token !== undefined && isSame(token, csrfToken);
  if (isFromOtherSite(request) || !isOurs)
    throw new HttpError(403, 'this form is too old, or not from this page: load the page and try again');
}

const longestMessage = 500;

/**
 * Passes the message of a change to the next page in a cookie, signed with what only the pages of this visit know: anybody who
 * makes a link, or another host that sets cookies for ours, could otherwise forge it.
 */
function sealMessage(message: string, visit: Visit): string {
  const text = Buffer.from(message.slice(0, longestMessage)).toString('base64url');
  return `${text}.${signMessage(text, visit)}`;
}

function openMessage(sealed: string, visit: Visit): string | undefined {
  const [text = '', signature = ''] = sealed.split('.');
  const right = signMessage(text, visit);
  if (right === undefined || !isSame(signature, right)) return undefined;
  return Buffer.from(text, 'base64url').toString();
}

function signMessage(text: string, { csrfToken }: Visit): string | undefined {
  return csrfToken && createHmac('sha256', csrfToken).update(text).digest('base64url');
}

/** Recognises callers of the hook by its secret; undefined for any other. A signature covers the empty body. */
function findHookCaller(checkCaller: CheckCaller, { headers, ip }: Sender): Visit | undefined {
  // A password that a proxy asks people for is not a wrong one here.
  if (readBearerToken(headers) === undefined && !('webhook-signature' in headers)) return undefined;
  try {
    checkCaller({ headers, body: new Uint8Array(), ip });
  } catch (error) {
    if (error instanceof WrongCredentialsError) return undefined;
    throw error;
  }
  return {
    visitor: { name: 'end-of-day hook', role: 'viewer' },
    signedInBy: 'hook',
    csrfToken: undefined,
  };
}

/**
 * Bounds how many expensive pages are worked on at the same time, whoever asks: a few visitors must not slow down reviews, or the
 * pages of others. Few wait, and not for long.
 */
export function limitExpensiveWork(atOnce = 2, mostWaiting = 16, waitMs = 5_000) {
  const gate = createGate(atOnce);
  /** @returns gives the permit back. @throws HttpError 503, or the signal's reason for a visitor who has left */
  return async (visitor: AbortSignal): Promise<() => void> => {
    if (gate.countWaiting() >= mostWaiting) throw tooBusy();
    const limit = startTimeLimit(visitor, waitMs, tooBusy);
    let leave = () => {};
    const entered = new Promise<void>((pass) => {
      leave = gate.enter(pass);
    });
    try {
      if ((await orAborted(entered, limit.signal)) !== 'aborted') return leave;
      leave();
      throw limit.signal.reason;
    } finally {
      limit.stop();
    }
  };
}

const tooBusy = () => tryLater('too many large pages are being read: send the request again in a moment', 5);
