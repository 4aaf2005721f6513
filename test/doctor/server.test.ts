import { afterEach, expect, it } from 'vitest';
import { checkPublicUrl } from '../../src/checks/doctor/server.js';
import { createAccess } from '../../src/desk/access/access.js';
import { createTransport, type HttpResult } from '../../src/transports/http/transport.js';
import { someUsers } from '../access/some-users.js';
import { runsOnly, startDesk, stopServers } from '../desk/some-desk.js';

afterEach(stopServers);

const publicUrl = 'https://review.example.com';
const remote = { isLocal: false, idleMs: 60_000, clock: () => 0 };
const needed = 'The proxy must pass on the header Host as the browser sent it (review.example.com)';

/** What doctor finds where the proxy passes on this host. */
async function check(host: string, users = someUsers()) {
  const access = createAccess({ users: { read: async () => users }, publicUrl, ...remote });
  const { url } = await startDesk({ ledger: runsOnly([]), access, hosts: ['review.example.com'] });
  const limits = { connections: 1, timeoutMs: 60_000, connectTimeoutMs: 60_000, maxAnswerBytes: 65_536 };
  const transport = createTransport({ origin: url, ...limits });
  return checkPublicUrl(publicUrl, (origin, path) => {
    expect(origin).toBe(publicUrl);
    const headers = ['accept', 'application/json', 'host', host];
    return transport.call({ method: 'GET', path, headers, signal: new AbortController().signal });
  });
}

it('doctor sees that the proxy passes on the Host, with and without users', async () => {
  for (const users of [someUsers(), { ...someUsers(), users: [] }])
    expect(await check('review.example.com', users)).toEqual([
      {
        part: 'configuration',
        verdict: 'ok',
        message: 'https://review.example.com leads to serve, and its proxy passes on the header Host',
      },
    ]);
});

it('doctor sees that the proxy passes on another Host, and says what it needs', async () => {
  for (const host of ['127.0.0.1:8080', 'localhost', 'backend.example.com'])
    expect(await check(host)).toEqual([
      {
        part: 'configuration',
        verdict: 'warning',
        message: 'nobody can sign in at https://review.example.com: another host arrives here',
        advice: expect.stringContaining(needed),
      },
    ]);
});

it.each<[string, HttpResult]>([
  ['connection-refused', { failure: { code: 'connection-refused', meaning: 'unreached' } }],
  ['http-502', answerOf(502, '<h1>Bad gateway</h1>')],
  ['http-200', answerOf(200, '<h1>Another site</h1>')],
  ['http-302', answerOf(302, '')],
])('doctor says what the proxy needs where it cannot be tried: %s', async (what, result) => {
  expect(await checkPublicUrl(publicUrl, async () => result)).toMatchObject([
    {
      verdict: 'warning',
      message: `the page for signing in at https://review.example.com could not be tried (${what})`,
      advice: expect.stringContaining(needed),
    },
  ]);
});

function answerOf(status: number, body: string): HttpResult {
  return { answer: { status, retryAfter: undefined, body: Buffer.from(body), bodyTruncated: false } };
}

it('doctor calls nobody where there is no such address, or no proxy', async () => {
  const never = async () => {
    throw new Error('called');
  };
  for (const url of [undefined, 'http://localhost:8080'])
    expect(await checkPublicUrl(url, never)).toEqual([]);
});
