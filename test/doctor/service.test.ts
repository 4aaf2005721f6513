import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { service } from '../../src/checks/doctor/service.js';
import { refusal, type StandInAnswer, startStandIn, success } from '../support/http-stand-in.js';
import { findFreePort } from '../support/sftp-server.js';
import { lines, look, makeApp } from './checked.js';

/** What doctor says of the service, without its clock. */
async function check(baseUrl: string, timeoutSeconds = 10) {
  const settings = {
    baseUrl,
    apiKey: 'canary-key-5f0c7e3b',
    accountId: 'canary-account-91d4',
    timeoutSeconds,
  };
  const found = await look(service, makeApp({ service: settings }, { clock: Date.now }));
  expect(found).toHaveLength(1);
  expect(JSON.stringify(found)).not.toContain('canary');
  return found[0];
}

async function checkAnswer(answer: StandInAnswer, timeoutSeconds?: number) {
  const standIn = await startStandIn(() => answer);
  onTestFinished(() => standIn.close());
  return { standIn, finding: await check(standIn.baseUrl, timeoutSeconds) };
}

const answered = (status: number): StandInAnswer => ({
  kind: 'text',
  status,
  body: 'canary-words of the service',
});

describe('the call', () => {
  it('is made once, with no hotels, and the finding says so', async () => {
    const { standIn, finding } = await checkAnswer(success);
    expect(standIn.requests.map(({ method, url, body }) => [method, url, body.toString()])).toEqual([
      ['POST', '/api/3.0/hotels/ReviewMappingsOfBookedHotels', '{"Hotels":[]}'],
    ]);
    expect(finding?.message).toContain('a review of no hotels, which submits nothing (POST /hotels/Review');
    expect(finding?.message).toContain(standIn.baseUrl);
  });

  it.each([429, 503])('is not repeated after %i', async (status) => {
    const { standIn } = await checkAnswer(answered(status));
    expect(standIn.requests).toHaveLength(1);
  });
});

describe('the service is ok', () => {
  it.each([
    ['when it takes the call', success],
    ['when it misses the hotels (2021)', refusal(2021, 'canary-words')],
    ['when it refuses the request (2002)', refusal(2002)],
    ['when it answers 400', answered(400)],
    ['when it answers 422', answered(422)],
  ])('%s', async (_, answer) => {
    expect((await checkAnswer(answer)).finding).toMatchObject({ part: 'service', verdict: 'ok' });
  });
});

describe('the service is wrong', () => {
  const keyOrAccount = /service\.apiKey and service\.accountId/;
  const address = /service\.baseUrl the address/;
  const later = /[Tt]ry again later/;

  it.each([
    ['401', answered(401), keyOrAccount],
    ['403', answered(403), keyOrAccount],
    ['2003 inside a 200', refusal(2003), keyOrAccount],
    ['404', answered(404), address],
    ['405', answered(405), address],
    ['301', { ...answered(301), headers: { location: 'http://canary.example.com/' } }, address],
    ['a page', answered(200), address],
    ['500', answered(500), later],
    ['503', answered(503), later],
    ['429', answered(429), later],
    ['2030 inside a 200', refusal(2030), later],
    ['a connection that is cut', { kind: 'drop', when: 'after-reading' }, later],
  ] as const)('when it responds with %s', async (_, answer, advice) => {
    const { finding } = await checkAnswer(answer as StandInAnswer);
    expect(finding).toMatchObject({
      part: 'service',
      verdict: 'wrong',
      advice: expect.stringMatching(advice),
    });
  });

  it('when it hangs', async () => {
    const { finding } = await checkAnswer({ kind: 'hang' }, 1);
    expect(finding).toMatchObject({
      verdict: 'wrong',
      message: expect.stringMatching(/failed: timeout$/),
      advice: expect.stringMatching(later),
    });
  });

  it('when nothing listens', async () => {
    expect(await check(`http://127.0.0.1:${await findFreePort()}/api/3.0`)).toMatchObject({
      verdict: 'wrong',
      message: expect.stringMatching(/failed: connection-refused$/),
      advice: expect.stringContaining('service.baseUrl'),
    });
  });

  it('when its host cannot be resolved', async () => {
    expect(await check('https://nobody.invalid/api/3.0')).toMatchObject({
      verdict: 'wrong',
      message: expect.stringMatching(/failed: (host-not-found|dns-failed)$/),
    });
  });

  it('when it does not support TLS', async () => {
    const server: Server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await check(`https://127.0.0.1:${port}/api/3.0`)).toMatchObject({
      verdict: 'wrong',
      message: expect.stringMatching(/failed: tls-protocol$/),
    });
  });
});

it('warns about an unknown response', async () => {
  expect((await checkAnswer(refusal(2999))).finding).toMatchObject({
    verdict: 'warning',
    message: expect.stringContaining('StatusCode 2999, which is unknown'),
    advice: expect.stringContaining('service.statusCodes'),
  });
});

it.each([
  [60_000, []],
  [-125_000, ['warning clock: the clock of this machine is 2 min 5 s behind that of the service']],
])('warns where the clocks differ too much: %i ms', async (lead, expected) => {
  const standIn = await startStandIn(() => ({
    ...success,
    headers: { date: new Date(lead * -1).toUTCString() },
  }));
  onTestFinished(() => standIn.close());
  const settings = { baseUrl: standIn.baseUrl, apiKey: 'k', accountId: 'a' };
  const [, ...clock] = await look(service, makeApp({ service: settings }, { clock: () => 0 }));
  expect(lines(clock)).toEqual(expected);
});
