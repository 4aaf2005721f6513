import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Access } from '../../src/desk/access/access.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { addRun } from './operations/asking.js';
import { fakeOperations } from './operations/fake-operations.js';
import { admitAs, csrfToken, now, startDesk } from './some-desk.js';

const evil = '<script>alert("x")</script>';
const day = '2026-11-19';

/** The desk of an operator over an active run of a day. */
async function start(options: Partial<Parameters<typeof startDesk>[0]> = {}) {
  const ledger = await openTemporaryLedger(() => now);
  await addRun(ledger, { day });
  const channels = [{ name: evil, kind: 'slack' }];
  const testChannels = async () => [{ name: evil, kind: 'slack', message: null }];
  const { operations, asked } = fakeOperations({ channels, testChannels });
  const desk = await startDesk({ ledger, role: 'operator', parts: { operations }, ...options });
  const ask = (path: string, { headers, ...init }: RequestInit = {}) =>
    fetch(desk.url + path, { redirect: 'manual', ...init, headers: { accept: 'text/html', ...headers } });
  const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    ask(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  return { ask, send, asked, recorded: desk.recorded };
}

describe('a page', () => {
  it('renews the session of who looks', async () => {
    const admitted = admitAs('viewer');
    const identify: Access['identify'] = async (request) => {
      const visit = await admitted.identify(request);
      return visit && { ...visit, setCookie: 'hotel-review=renewed' };
    };
    const { ask } = await start({ access: { ...admitted, identify } });
    expect((await ask('/cases')).headers.get('set-cookie')).toBe('hotel-review=renewed');
  });

  it.each([
    ['/cases', '', 'text/html'],
    ['/cases', '*/*', 'text/html'],
    ['/cases', 'text/html, application/json', 'text/html'],
    ['/cases', 'application/json;q=0.9', 'application/json'],
    [`/days/${day}`, '*/*', 'application/json'],
    [`/days/${day}`, 'text/html', 'text/html'],
    ['/mappings', '*/*', 'text/html'],
  ])('%s for a caller that accepts "%s" is %s', async (path, accept, type) => {
    const { ask } = await start();
    const answer = await ask(path, { headers: { accept } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining(type)]);
  });

  it('allows no script but its own, and refuses what it does not understand, in the requested form', async () => {
    const { ask } = await start();
    const page = await ask('/cases?state=sideways');
    expect([page.status, await page.text()]).toEqual([
      400,
      expect.stringContaining('<h1>That did not work</h1>'),
    ]);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    const data = await ask('/cases?state=sideways', { headers: { accept: 'application/json' } });
    expect(await data.json()).toMatchObject({ error: { class: 'malformed', message: /^state: / } });
  });
});

describe('an action', () => {
  it('on a form with a token leads to a page that says once what was done', async () => {
    const { ask, send, recorded } = await start();
    expect(await (await ask('/notifications/test')).text()).toContain(`value="${csrfToken}"`);
    const done = await send('/notifications/test', { token: csrfToken, reason: ' a trial ' });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/notifications']);
    expect(recorded).toEqual([
      { who: 'ana (desk)', at: now, action: 'notify-test', details: { reason: 'a trial' } },
    ]);
    const cookie = done.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(cookie).toMatch(/^hotel-review-message=/);
    // A page that looks again by itself leaves it to the window of the change.
    const look = await ask('/notifications', { headers: { cookie, 'sec-fetch-dest': 'empty' } });
    expect(look.headers.get('set-cookie') ?? '').not.toContain('Max-Age=0');
    const next = await ask('/notifications', { headers: { cookie } });
    expect(await next.text()).toContain('Accepted: &lt;script&gt;');
    expect(next.headers.get('set-cookie')).toContain('Max-Age=0');
  });

  it('shows no message that another host put into a cookie', async () => {
    const { ask, send } = await start();
    const done = await send('/notifications/test', { token: csrfToken });
    const [, value = '', signature = ''] =
      /^hotel-review-message=([\w-]+)\.([\w-]+);/.exec(done.headers.get('set-cookie') ?? '') ?? [];
    const forgery = Buffer.from('Call 555 now').toString('base64url');
    const unsigned = createHmac('sha256', '').update(forgery).digest('base64url');
    const isShown = async (sealed: string) => {
      const page = await ask('/notifications', { headers: { cookie: `hotel-review-message=${sealed}` } });
      return (await page.text()).includes('role="status"');
    };
    for (const forged of ['', '.', `.${signature}`, `.${unsigned}`].map((end) => `${forgery}${end}`))
      expect([forged, await isShown(forged)]).toEqual([forged, false]);
    expect(await isShown(`.${signature}`)).toBe(false);
    expect(await isShown(`${value}.${signature}`)).toBe(true);
  });

  it.each([
    ['from another site', { reason: 'old' }, { 'sec-fetch-site': 'cross-site' }, 403],
    ['without a reason', { reason: ' ' }, {}, 400],
    ['with a reason that is too long', { reason: 'x'.repeat(501) }, {}, 400],
  ])('does nothing %s', async (_, fields, headers, status) => {
    const { send, asked, recorded } = await start();
    const done = await send(`/days/${day}/cancel`, { token: csrfToken, ...fields }, headers as never);
    expect([done.status, asked, recorded]).toEqual([status, [], []]);
  });

  it('does nothing that the audit trail cannot record', async () => {
    const { send, asked } = await start({ record: () => Promise.reject(new Error('no room')) });
    expect((await send(`/days/${day}/cancel`, { token: csrfToken, reason: 'old' })).status).toBe(500);
    expect(asked).toEqual([]);
  });
});

it('The name of a download cannot break out of its header', async () => {
  const { ask } = await start({ role: 'team' });
  const file = await ask(`/bookings/evidence?reference=${encodeURIComponent('a "thing"\\')}`);
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="evidence-a__thing__.zip"');
});
