import { expect, it } from 'vitest';
import { judgeSignIn, publicUrl } from '../../../src/checks/doctor/public-url.js';
import { createAccess } from '../../../src/desk/access/access.js';
import { createTransport, type HttpResult } from '../../../src/transports/http/transport.js';
import { someUsers } from '../../desk/access/some-users.js';
import { startDesk } from '../../desk/some-desk.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { look, makeApp } from './checked.js';

const url = new URL('https://review.example.com');
const remote = { isLocal: false, idleMs: 60_000, clock: () => 0 };

/** What doctor finds where the proxy passes on this host. */
async function check(host: string, users = someUsers()) {
  const access = createAccess({ users: { read: async () => users }, publicUrl: url.origin, ...remote });
  const desk = await startDesk({ ledger: await openTemporaryLedger(), access, hosts: [url.host] });
  const limits = { connections: 1, timeoutMs: 60_000, connectTimeoutMs: 60_000, maxAnswerBytes: 65_536 };
  const headers = ['accept', 'application/json', 'host', host];
  const { signal } = new AbortController();
  const transport = createTransport({ origin: desk.url, ...limits });
  return judgeSignIn(url, await transport.call({ method: 'GET', path: '/sign-in', headers, signal }));
}

it('doctor sees which Host the proxy passes on, with and without users', async () => {
  for (const users of [someUsers(), { ...someUsers(), users: [] }])
    expect(await check(url.host, users)).toMatchObject({ verdict: 'ok' });
  for (const host of ['127.0.0.1:8080', 'backend.example.com'])
    expect(await check(host)).toMatchObject({
      message: 'nobody can sign in at https://review.example.com: another host arrives here',
      advice: expect.stringContaining(
        'must pass on the header Host as the browser sent it (review.example.com)',
      ),
    });
});

const answerOf = (status: number, body: string): HttpResult => ({
  answer: { status, retryAfter: undefined, body: Buffer.from(body), bodyTruncated: false },
});

it.each<[string, HttpResult]>([
  ['connection-refused', { failure: { code: 'connection-refused', meaning: 'unreached' } }],
  ['http-502', answerOf(502, '<h1>Bad gateway</h1>')],
  ['http-200', answerOf(200, '<h1>Another site</h1>')],
])('doctor warns where the proxy cannot be tried: %s', (what, result) => {
  expect(judgeSignIn(url, result)).toMatchObject({
    verdict: 'warning',
    message: `the page for signing in at https://review.example.com could not be tried (${what})`,
  });
});

it('doctor calls nobody where there is no such address, or no proxy, or people sign in at the proxy', async () => {
  const atProxy = {
    publicUrl: 'https://nobody.invalid',
    signIn: { header: 'x-user' },
    proxies: ['127.0.0.1'],
    users: 'users.json',
  };
  for (const server of [{}, { publicUrl: 'http://localhost:8080' }, atProxy])
    expect(await look(publicUrl, makeApp({ server }))).toEqual([]);
});
