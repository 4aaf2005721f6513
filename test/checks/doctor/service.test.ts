import { expect, it, onTestFinished } from 'vitest';
import { service } from '../../../src/checks/doctor/service.js';
import { refusal, type StandInAnswer, startStandIn, success } from '../../support/http-stand-in.js';
import { findFreePort } from '../../support/sftp-server.js';
import { lines, look, makeApp } from './checked.js';

/** What doctor says of the service. */
async function check(baseUrl: string, { timeoutSeconds = 10, clock = Date.now } = {}) {
  const secrets = { apiKey: 'canary-key-5f0c7e3b', accountId: 'canary-account-91d4' };
  const found = await look(service, makeApp({ service: { baseUrl, ...secrets, timeoutSeconds } }, { clock }));
  expect(JSON.stringify(found)).not.toContain('canary');
  return found;
}

async function checkAnswer(answer: StandInAnswer, how?: Parameters<typeof check>[1]) {
  const standIn = await startStandIn(() => answer);
  onTestFinished(() => standIn.close());
  return { standIn, found: await check(standIn.baseUrl, how) };
}

const answered = (status: number): StandInAnswer => ({
  kind: 'text',
  status,
  body: 'canary-words of the service',
});

const keyOrAccount = /service\.apiKey and service\.accountId/;
const address = /service\.baseUrl the address/;
const later = /[Tt]ry again later/;

it.each<[string, StandInAnswer, string, RegExp?]>([
  ['success', success, 'ok'],
  ['that it misses the hotels', refusal(2021, 'canary-words'), 'ok'],
  ['400', answered(400), 'ok'],
  ['an unknown code', refusal(2999), 'warning', /service\.statusCodes/],
  ['401', answered(401), 'wrong', keyOrAccount],
  ['a wrong key inside a 200', refusal(2003), 'wrong', keyOrAccount],
  ['404', answered(404), 'wrong', address],
  ['a page', answered(200), 'wrong', address],
  ['503', answered(503), 'wrong', later],
  ['a temporary refusal inside a 200', refusal(2030), 'wrong', later],
  ['nothing', { kind: 'hang' }, 'wrong', later],
])('where the service answers with %s, doctor finds %s', async (_, answer, verdict, advice) => {
  const { found } = await checkAnswer(answer, answer.kind === 'hang' ? { timeoutSeconds: 1 } : {});
  expect(found).toMatchObject([{ part: 'service', verdict }]);
  if (advice) expect(found[0]?.advice).toMatch(advice);
});

it('doctor doubts the address where nothing listens, or no host has that name', async () => {
  for (const url of [`http://127.0.0.1:${await findFreePort()}`, 'https://nobody.invalid'])
    expect(await check(`${url}/api/3.0`)).toMatchObject([
      {
        verdict: 'wrong',
        message: expect.stringMatching(/failed: (connection-refused|host-not-found|dns-failed)$/),
        advice: expect.stringMatching(address),
      },
    ]);
});

it.each([
  [60_000, []],
  [-125_000, ['warning clock: the clock of this machine is 2 min 5 s behind that of the service']],
])('doctor warns where the clocks differ too much: %i ms', async (lead, expected) => {
  const headers = { date: new Date(lead * -1).toUTCString() };
  const [, ...clock] = (await checkAnswer({ ...success, headers } as StandInAnswer, { clock: () => 0 }))
    .found;
  expect(lines(clock)).toEqual(expected);
});
