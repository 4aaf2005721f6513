import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { startStandIn } from '../../support/http-stand-in.js';
import { messageWith, open, send } from './channel-kit.js';

const secret = Buffer.from('thirty-two bytes of a secret key').toString('base64');

/** The call of a channel with this secret, as a receiver verifies it with the reference library. */
async function deliver(written: string) {
  const receiver = await startStandIn();
  onTestFinished(() => receiver.close());
  const settings = { kind: 'webhook', url: `http://127.0.0.1:${receiver.port}/`, secret: written };
  await send(await open(settings, { clock: Date.now }), messageWith());
  const [{ rawHeaders = [], body } = {}] = receiver.requests;
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const headers = Object.fromEntries(
    names.map((name) => [name, rawHeaders[rawHeaders.indexOf(name) + 1] ?? '']),
  );
  return {
    id: headers['webhook-id'],
    verifyWith: (key: string) => new Webhook(key).verify(String(body), headers),
  };
}

it('A webhook is signed according to Standard Webhooks', async () => {
  const { id, verifyWith } = await deliver(`whsec_${secret}`);
  expect(id).toBe('msg_day-late-2026-11-20-1');
  expect(verifyWith(`whsec_${secret}`)).toMatchObject({
    ...{ event: 'day-late', day: '2026-11-20', runId: '20261121-abcdefgh' },
    url: 'https://review.example.com/days/2026-11-20',
  });
});

it('A secret without whsec_ is understood as text and as base64', async () => {
  const { verifyWith } = await deliver(secret);
  verifyWith(`whsec_${secret}`);
  verifyWith(`whsec_${Buffer.from(secret).toString('base64')}`);
});
