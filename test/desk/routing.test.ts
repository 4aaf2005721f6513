import { createHmac } from 'node:crypto';
import Fastify from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { html } from '../../src/base/html.js';
import { UsageError } from '../../src/base/safe-error.js';
import { createFrame, readAssets } from '../../src/desk/frame.js';
import { type DeskRoute, defineAction, defineDownload, definePage } from '../../src/desk/page.js';
import { registerRoutes } from '../../src/desk/serve-pages.js';
import type { RecordedAction } from '../../src/rules/action.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { admitAs, csrfToken, otherParts } from './some-desk.js';

const assets = await readAssets(new URL('../../src/desk/assets/', import.meta.url));
const apps: { close(): PromiseLike<unknown> }[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

const evil = '<script>alert("x")</script>';
const performed: unknown[] = [];
const readSecret = {
  permission: 'see-bookings' as const,
  input: z.object({ name: z.string() }),
  json: 'if-asked' as const,
  read: async () => ({ secret: 'blue' }),
  render: ({ secret }: { readonly secret: string }) => ({ title: 'Secret', content: html`<p>${secret}</p>` }),
};
const routes: readonly DeskRoute[] = [
  definePage({
    path: '/things/:name',
    permission: 'look',
    input: z.object({ name: z.string().max(40), sort: z.enum(['up', 'down']).default('up') }),
    json: 'if-asked',
    read: async (input) => input,
    render: ({ name }) => ({ title: name, content: html`<p>${name}</p>` }),
  }),
  definePage({
    path: '/things/:name/usual',
    permission: 'look',
    input: z.object({ name: z.string() }),
    json: 'usually',
    read: async (input) => input,
    render: ({ name }) => ({ title: name, content: html`<p>${name}</p>` }),
  }),
  definePage({
    path: '/things/:name/people',
    permission: 'see-bookings',
    input: z.object({ name: z.string() }),
    read: async ({ name }) => {
      performed.push(name);
      return {};
    },
    audit: () => ({ action: 'show', revealsNames: false }),
    render: () => ({ title: 'For people', content: html`<p>a page</p>` }),
  }),
  ...[false, true].map((revealsNames) =>
    definePage({
      ...readSecret,
      path: `/things/:name/${revealsNames ? 'names' : 'secret'}`,
      audit: ({ secret }, { name }) => ({
        action: 'show',
        subject: name,
        details: { found: secret.length },
        revealsNames,
      }),
    }),
  ),
  defineAction({
    path: '/things/:name/break',
    permission: 'operate',
    title: 'Break it',
    input: z.object({ name: z.string() }),
    form: z.object({ hard: z.literal('yes').optional() }),
    reason: 'required',
    preview: async ({ name }) => ({ lines: [`${name} will break`], button: 'Break', back: '/' }),
    audit: ({ name }, { reason }) => ({ action: 'run', subject: name, details: { reason } }),
    perform: async (input, form) => {
      if (input.name === 'iron') throw new UsageError('iron does not break');
      performed.push({ input, form });
      return { message: `${input.name} is broken: ${evil}`, next: '/things/pieces' };
    },
  }),
  defineDownload({
    path: '/things/:name/file',
    permission: 'see-bookings',
    input: z.object({ name: z.string() }),
    contentType: 'text/csv',
    audit: ({ name }) => ({ action: 'report', subject: name }),
    open: async () => ({
      name: 'a "thing".csv',
      content: (async function* () {
        yield 'a,b\n';
      })(),
    }),
  }),
];

async function start(role: Parameters<typeof admitAs>[0], { isRecorded = true } = {}) {
  performed.length = 0;
  const recorded: RecordedAction[] = [];
  const app = Fastify();
  registerRoutes(app, routes, {
    access: admitAs(role),
    assets,
    frame: createFrame(assets),
    desk: {
      ...otherParts,
      ledger: await openTemporaryLedger(),
      clock: () => Date.parse('2026-11-21T02:30:00Z'),
    },
    record: async (action) => {
      if (!isRecorded) throw new Error('no room');
      recorded.push(action);
    },
    signal: new AbortController().signal,
    answerMs: 1_000,
    log: { info: () => {}, error: () => {} },
  });
  apps.push(app);
  await app.listen();
  const { port } = app.server.address() as { port: number };
  const ask = (path: string, init: RequestInit & { accept?: string } = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      redirect: 'manual',
      ...init,
      headers: { accept: init.accept ?? 'text/html', ...(init.headers as object) },
    });
  const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    ask(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  return { ask, send, recorded };
}

describe('a page', () => {
  it.each([
    ['/things/chair', undefined, 'text/html'],
    ['/things/chair', '*/*', 'text/html'],
    ['/things/chair', 'text/html, application/json', 'text/html'],
    ['/things/chair/usual', '*/*', 'application/json'],
    ['/things/chair/usual', 'text/html', 'text/html'],
    ['/things/chair/people', '*/*', 'text/html'],
  ])('%s for a caller that accepts %s is %s', async (path, accept, type) => {
    const { ask } = await start('operator');
    const answer = await ask(path, { accept: accept ?? '' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining(type)]);
  });

  it('escapes what it shows, and allows no script but its own', async () => {
    const { ask } = await start('viewer');
    const page = await ask(`/things/${encodeURIComponent(evil)}`);
    const text = await page.text();
    expect(text).not.toContain(evil);
    expect(text).toContain('&lt;script&gt;');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(text).not.toMatch(/ style=| on\w+=/);
  });

  it('refuses what it does not understand, in the requested form', async () => {
    const { ask } = await start('viewer');
    const data = await ask('/things/chair?sort=sideways', { accept: 'application/json' });
    expect(data.status).toBe(400);
    expect(await data.json()).toMatchObject({ error: { class: 'malformed', message: /^sort: / } });
    const page = await ask('/things/chair?sort=sideways');
    expect([page.status, await page.text()]).toEqual([
      400,
      expect.stringContaining('<h1>That did not work</h1>'),
    ]);
  });
});

describe('a look at bookings', () => {
  it('is recorded, with what was found, for pages and data alike', async () => {
    const { ask, recorded } = await start('operator');
    await ask('/things/chair/secret');
    await ask('/things/chair/names', { accept: 'application/json' });
    const entry = { who: 'ana (desk)', action: 'show', subject: 'chair', details: { found: 4 } };
    expect(recorded).toMatchObject([entry, entry]);
    expect(recorded[0]).not.toHaveProperty('revealsNames');
  });

  it('is not prevented by a full disk, unless it reveals names', async () => {
    const { ask } = await start('operator', { isRecorded: false });
    expect(await (await ask('/things/chair/secret')).text()).toContain('blue');
    const names = await ask('/things/chair/names');
    expect([names.status, await names.text()]).toEqual([500, expect.not.stringContaining('blue')]);
  });
});

describe('an action', () => {
  it('shows what it would do, and does it on a form with a reason and a token', async () => {
    const { ask, send, recorded } = await start('operator');
    const preview = await (await ask('/things/chair/break')).text();
    expect(preview).toContain('chair will break');
    expect(preview).toContain(`value="${csrfToken}"`);
    const done = await send('/things/chair/break', { token: csrfToken, reason: 'old', hard: 'yes' });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/things/pieces']);
    expect(performed).toEqual([{ input: { name: 'chair' }, form: { hard: 'yes', reason: 'old' } }]);
    expect(recorded).toMatchObject([
      { who: 'ana (desk)', action: 'run', subject: 'chair', details: { reason: 'old' } },
    ]);
    const cookie = done.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(cookie).toMatch(/^hotel-review-message=/);
    // A page that looks again by itself leaves it to the window of the change.
    const look = await ask('/things/pieces', { headers: { cookie, 'sec-fetch-dest': 'empty' } });
    expect(look.headers.get('set-cookie') ?? '').not.toContain('Max-Age=0');
    const next = await ask('/things/pieces', { headers: { cookie } });
    const text = await next.text();
    expect(text).toContain('chair is broken: &lt;script&gt;');
    expect(next.headers.get('set-cookie')).toContain('Max-Age=0');
  });

  it('shows no message that another host put into a cookie', async () => {
    const { ask, send } = await start('operator');
    const done = await send('/things/chair/break', { token: csrfToken, reason: 'old' });
    const [, value = '', signature = ''] =
      /^hotel-review-message=([\w-]+)\.([\w-]+);/.exec(done.headers.get('set-cookie') ?? '') ?? [];
    const forgery = Buffer.from('Call 555 now').toString('base64url');
    const unsigned = createHmac('sha256', '').update(forgery).digest('base64url');
    for (const forged of [
      forgery,
      `${forgery}.`,
      `${forgery}.${signature}`,
      `${forgery}.${unsigned}`,
      `.${signature}`,
    ]) {
      const cookie = ['desk-message', 'hotel-review-message'].map((name) => `${name}=${forged}`).join('; ');
      const text = await (await ask('/things/pieces', { headers: { cookie } })).text();
      expect(text).not.toContain('role="status"');
    }
    const right = await ask('/things/pieces', {
      headers: { cookie: `hotel-review-message=${value}.${signature}` },
    });
    expect(await right.text()).toContain('role="status"');
  });

  it.each([
    ['without a token', { reason: 'old' }, {}, 403],
    ['with a forged token', { token: 'x', reason: 'old' }, {}, 403],
    ['from another site', { token: csrfToken, reason: 'old' }, { 'sec-fetch-site': 'cross-site' }, 403],
    ['without a reason', { token: csrfToken, reason: ' ' }, {}, 400],
    ['with a field it does not know the value of', { token: csrfToken, reason: 'x', hard: 'no' }, {}, 400],
  ])('does nothing %s', async (_, fields, headers, status) => {
    const { send, recorded } = await start('operator');
    expect((await send('/things/chair/break', fields as never, headers as never)).status).toBe(status);
    expect([performed, recorded]).toEqual([[], []]);
  });

  it('does nothing that the audit trail cannot record', async () => {
    const { send } = await start('operator', { isRecorded: false });
    expect((await send('/things/chair/break', { token: csrfToken, reason: 'old' })).status).toBe(500);
    expect(performed).toEqual([]);
  });

  it('is for those with the permission, and shows why the engine refuses', async () => {
    const viewer = await start('viewer');
    expect((await viewer.ask('/things/chair/break')).status).toBe(403);
    expect((await viewer.send('/things/chair/break', { token: csrfToken, reason: 'old' })).status).toBe(403);
    const { send } = await start('admin');
    const refused = await send('/things/iron/break', { token: csrfToken, reason: 'old' });
    expect([refused.status, await refused.text()]).toEqual([
      409,
      expect.stringContaining('iron does not break'),
    ]);
  });
});

it('a download is recorded, and its name cannot break out of the header', async () => {
  const { ask, recorded } = await start('operator');
  const file = await ask('/things/chair/file');
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="a__thing_.csv"');
  expect(await file.text()).toBe('a,b\n');
  expect(recorded).toMatchObject([{ who: 'ana (desk)', action: 'report', subject: 'chair' }]);
  expect((await (await start('viewer')).ask('/things/chair/file')).status).toBe(403);
});
