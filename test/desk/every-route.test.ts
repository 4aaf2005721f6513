import Fastify from 'fastify';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createDesk, routes } from '../../src/desk/desk.js';
import { readAssets } from '../../src/desk/frame.js';
import type { DeskParts, DeskRoute } from '../../src/desk/page.js';
import { may, type Permission, type Role, roles } from '../../src/storage/access/roles.js';
import { createTemporaryLedger, openRun } from '../review/temporary-ledger.js';
import { openCases, threeCases } from './cases/some-cases.js';
import { admitAs, assetsFolder, csrfToken, now, otherParts, type SomeDesk, startDesk } from './some-desk.js';
import { addFileRun, archiveOf, fileRunId } from './some-file-run.js';

/** Every route with a path that exists in the ledger below. A new route fails here until it has one. */
const samples: Readonly<Record<string, string>> = {
  '/': '/',
  '/days/:day': '/days/2026-11-20',
  '/days/:day/reports/:name': `/days/2026-11-20/reports/${fileRunId}-succeeded.html`,
  '/runs/:id': '/runs/run-of-2026-11-20',
  '/days/:day/run': '/days/2026-11-20/run',
  '/days/:day/replay': '/days/2026-11-20/replay',
  '/days/:day/accept': '/days/2026-11-20/accept',
  '/days/:day/accept-affected': '/days/2026-11-20/accept-affected',
  '/days/:day/cancel': '/days/2026-11-20/cancel',
  '/days/:day/look': '/days/2026-11-20/look',
  '/replay': '/replay?from=2026-11-19&to=2026-11-20&which=missing',
  '/mappings/sync': '/mappings/sync',
  '/notifications': '/notifications',
  '/notifications/test': '/notifications/test',
  '/runs/:id/rejected': `/runs/${fileRunId}/rejected`,
  '/runs/:id/refused': `/runs/${fileRunId}/refused`,
  '/runs/:id/unanswered': `/runs/${fileRunId}/unanswered`,
  '/runs/:id/posted': `/runs/${fileRunId}/posted`,
  '/runs/:id/suspects': `/runs/${fileRunId}/suspects`,
  '/runs/:id/affected': `/runs/${fileRunId}/affected`,
  '/runs/:id/result': `/runs/${fileRunId}/result`,
  '/runs/:id/manifest': `/runs/${fileRunId}/manifest`,
  '/bookings': '/bookings?reference=BR-1',
  '/bookings/evidence': '/bookings/evidence?reference=BR-1',
  '/mappings': '/mappings?provider=hotelbeds&hotel=007',
  '/providers': '/providers?from=2026-11-01&to=2026-11-20',
  '/providers/:name': '/providers/hotelbeds',
  '/audit': '/audit',
  '/cases': '/cases',
  '/cases.csv': '/cases.csv',
  '/cases/change': '/cases/change?do=report&id=1',
  '/cases/:id': '/cases/1',
  '/cases/:id/resolve': '/cases/1/resolve',
};

/** What each route asks for, one by one: whoever opens one to more people changes it here, too. */
const asked: Readonly<Record<Permission, readonly string[]>> = {
  look: [
    ...['/', '/days/:day', '/days/:day/reports/:name', '/runs/:id', '/runs/:id/manifest', '/mappings'],
    ...['/providers', '/providers/:name', '/cases', '/cases.csv', '/cases/:id'],
  ],
  'see-bookings': [
    ...['rejected', 'refused', 'unanswered', 'posted', 'suspects', 'affected'].map(
      (list) => `/runs/:id/${list}`,
    ),
    '/bookings',
  ],
  'see-names': ['/runs/:id/result', '/bookings/evidence'],
  'see-audit': ['/audit'],
  operate: [
    ...['run', 'cancel', 'look', 'accept', 'accept-affected', 'replay'].map((name) => `/days/:day/${name}`),
    ...['/replay', '/mappings/sync', '/notifications', '/notifications/test'],
  ],
  'work-cases': ['/cases/change', '/cases/:id/resolve'],
};

/** What `docs/desk.md` promises to programs. */
const pagesWithJson = ['/', '/days/:day', '/runs/:id', '/cases', '/cases/:id', '/bookings', '/providers'];

const evil = `"'><script>alert(1)</script><img src=x onerror=alert(2)>`;

/** Who asks: a user with a role, or nobody. */
const visitors = [...roles, undefined] as const;
let ledger: DeskParts['ledger'];
/** One desk per visitor, all over one ledger: no request of these tests changes anything. */
const desks = new Map<Role | undefined, SomeDesk>();
beforeAll(async () => {
  const temporary = await createTemporaryLedger(() => now);
  ledger = temporary.ledger;
  await openRun(ledger, '2026-11-20');
  const archive = archiveOf(await addFileRun(ledger));
  await openCases(temporary.ledger, threeCases);
  for (const role of visitors)
    desks.set(role, await startDesk({ ledger, parts: { archive }, role, stays: true }));
  return async () => {
    for (const { server } of desks.values()) await server.close();
    await temporary.remove();
  };
});
afterEach(() => {
  for (const { recorded } of desks.values()) recorded.length = 0;
});

function deskFor(role: Role | undefined): SomeDesk {
  const desk = desks.get(role);
  if (!desk) throw new Error(`no desk was started for ${role}`);
  return desk;
}

const ask = (url: string, init: RequestInit & { readonly accept?: string } = {}) =>
  fetch(url, {
    redirect: 'manual',
    ...init,
    headers: { accept: init.accept ?? 'text/html', ...(init.headers as object) },
  });

/** With a form where the route takes one. */
function send(url: string, route: DeskRoute, fields: Readonly<Record<string, string>> = {}) {
  return route.kind === 'action'
    ? ask(url, { method: 'POST', body: new URLSearchParams({ reason: 'a test', ...fields }) })
    : ask(url);
}

it('Every route has a sample and its permission here, and exactly the pages that programs need have JSON', () => {
  expect(Object.keys(samples).sort()).toEqual(routes.map(({ path }) => path).sort());
  for (const [permission, paths] of Object.entries(asked)) {
    const found = routes.filter((route) => route.permission === permission);
    expect(found.map(({ path }) => path).sort()).toEqual(paths.toSorted());
  }
  const withJson = routes.filter((route) => route.kind === 'page' && route.json !== undefined);
  expect(withJson.map(({ path }) => path).sort()).toEqual(pagesWithJson.toSorted());
});

it('Apart from the table, the desk only has routes for its assets, signing in and out, and everything else', async () => {
  const found = new Set<string>();
  const app = Fastify().addHook('onRoute', ({ url }) => void found.add(url));
  const assets = await readAssets(assetsFolder);
  const desk = createDesk(
    { ...otherParts, ledger },
    {
      access: admitAs('admin'),
      assets,
      record: async () => {},
      signal: new AbortController().signal,
      log: { info: () => {}, error: () => {} },
    },
  );
  desk(app, { answerMs: 1_000 });
  await app.ready();
  const others = [...Object.values(assets).map(({ path }) => path), '/sign-in', '/sign-out', '*'];
  expect([...found].sort()).toEqual([...Object.keys(samples), ...others].sort());
  await app.close();
});

const sampled = routes.map((route) => ({ ...route, sample: samples[route.path] ?? '' }));

describe.each(sampled)('$path', (route) => {
  const { sample, permission, kind } = route;

  it('is closed without a session, for people and programs', async () => {
    const { url, recorded } = deskFor(undefined);
    expect((await ask(url + sample)).headers.get('location')).toMatch(/^\/sign-in\?to=/);
    expect((await ask(url + sample, { accept: 'application/json' })).status).toBe(401);
    expect((await send(url + sample, route, { token: csrfToken })).status).toBe(
      kind === 'action' ? 401 : 303,
    );
    expect(recorded).toEqual([]);
  });

  it.each(roles)(`is open to %s only if the role may ${permission}`, async (role) => {
    const { url, recorded } = deskFor(role);
    const answer = await ask(url + sample);
    const text = await answer.text();
    expect(answer.status).toBe(may(role, permission) ? 200 : 403);
    // Nor does a page say more than the role may see. What a manifest holds is read by programs.
    if (!may(role, 'see-names')) expect(text).not.toContain('Ana Gil');
    const named = [...text.matchAll(/\b(?:BR|F|B)-\d+\b/g)].filter(
      ([reference]) => !sample.includes(reference),
    );
    if (!may(role, 'see-bookings')) expect(named).toEqual([]);
    // Where it shows bookings, the look is recorded.
    if (named.length > 0 && kind !== 'action') expect(recorded).not.toEqual([]);
  });

  it('never echoes a script in its address, and never breaks on one', async () => {
    const { url } = deskFor('admin');
    for (const address of hostileAddresses(route, sample)) {
      const answer = await ask(url + address);
      expect([address, answer.status]).toEqual([address, expect.toSatisfy((status: number) => status < 500)]);
      expect(await answer.text(), address).not.toContain('<script>alert');
    }
  });

  it('accepts no other method', async () => {
    const { url } = deskFor('admin');
    const others = kind === 'action' ? ['PUT', 'DELETE'] : ['POST', 'PUT', 'DELETE'];
    for (const method of others) expect((await ask(url + sample, { method })).status).toBe(405);
  });

  it('answers programs with JSON where they need it, and shows them nothing where it has none', async () => {
    const { url, recorded } = deskFor('admin');
    const answer = await ask(url + sample, { accept: 'application/json' });
    if (kind === 'download') return;
    if (kind === 'action' || pagesWithJson.includes(route.path)) {
      expect([answer.status, await answer.json()]).toEqual([200, expect.any(Object)]);
      return;
    }
    const error = { class: 'not-acceptable', message: expect.stringContaining('ask for text/html') };
    expect([answer.status, await answer.json()]).toEqual([406, { error }]);
    expect(recorded).toEqual([]);
  });

  it('does nothing without the permission, or on a forged form', async () => {
    if (kind !== 'action') return;
    for (const role of roles) {
      const { url, recorded } = deskFor(role);
      const tokens = may(role, permission) ? ['', 'forged', `${csrfToken}x`] : [csrfToken];
      const forms = [...tokens.map((token) => ({ token })), ...(may(role, permission) ? [{}] : [])];
      for (const form of forms) expect((await send(url + sample, route, form)).status).toBe(403);
      expect(recorded).toEqual([]);
    }
  });
});

/** A script, and tricks with paths, in each field of the address. */
function hostileAddresses({ path, input }: DeskRoute, sample: string): string[] {
  const tricks = [
    ...[evil, '../../etc/passwd', '..%2f..', '%00', '%', '\\..\\', '//evil.example'],
    'x'.repeat(5_000),
  ];
  const [, place] = /:(\w+)/.exec(path) ?? [];
  const fields = Object.keys(input.shape).filter((name) => name !== place);
  const [base = ''] = sample.split('?');
  return [
    ...(place ? tricks.map((trick) => path.replace(/:\w+/, encodeURIComponent(trick))) : []),
    ...(place ? ['/%2e%2e', '/..', '/%00'].map((trick) => path.replace(/\/:\w+/, trick)) : []),
    ...fields.flatMap((name) => tricks.map((trick) => `${base}?${name}=${encodeURIComponent(trick)}`)),
    ...fields.map((name) => `${base}?${name}=a&${name}=b&__proto__=c&constructor=d`),
  ];
}
