import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { startStandIn } from '../support/http-stand-in.js';
import { messageWith, now, open, send } from './channel-kit.js';

const secret = `whsec_${Buffer.from('thirty-two bytes of a secret key').toString('base64')}`;
const otherSecret = `whsec_${Buffer.from('another secret of thirty-two byt').toString('base64')}`;

async function deliver(settings: object, message = messageWith(), clock = () => now) {
  const receiver = await startStandIn();
  onTestFinished(() => receiver.close());
  const written = { kind: 'webhook', url: `http://127.0.0.1:${receiver.port}/`, ...settings };
  await send(await open(written, { clock }), message);
  const [request] = receiver.requests;
  const { rawHeaders = [], body = Buffer.alloc(0) } = request ?? {};
  const header = (wanted: string) => rawHeaders[rawHeaders.indexOf(wanted) + 1] ?? '';
  return {
    body,
    id: header('webhook-id'),
    timestamp: header('webhook-timestamp'),
    signature: header('webhook-signature'),
  };
}

/** As docs/first-week.md describes it: written from the specification, not with this program's code. */
function isGenuine({ body, id, timestamp, signature }: Awaited<ReturnType<typeof deliver>>, written: string) {
  const key = Buffer.from(written.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  return signature.split(' ').some((one) => {
    const [version, given = ''] = one.split(',');
    const bytes = Buffer.from(given, 'base64');
    return version === 'v1' && bytes.length === expected.length && timingSafeEqual(bytes, expected);
  });
}

it('The body of a webhook has the documented names, with null for what is absent', async () => {
  const full = await deliver({ secret });
  expect(JSON.parse(String(full.body))).toEqual({
    id: 'msg_day-late-2026-11-20-1',
    event: 'day-late',
    stage: 'raised',
    severity: 'critical',
    day: '2026-11-20',
    runId: '20261121-abcdefgh',
    title: '2026-11-20 is late: day 3 without review, 41 check-ins today',
    text: 'The source has no file for it.\nWhat to do: run --day 2026-11-20',
    url: 'https://review.example.com/days/2026-11-20',
    counts: { accepted: 0, affected: null },
  });
  const { day: _, runId: __, url: ___, ...rest } = messageWith();
  const bare = await deliver({ secret }, rest);
  expect(JSON.parse(String(bare.body))).toMatchObject({ day: null, runId: null, url: null });
});

it('A webhook is signed according to Standard Webhooks', async () => {
  const call = await deliver({ secret });
  expect(call.id).toBe('msg_day-late-2026-11-20-1');
  expect(call.timestamp).toBe(String(now / 1000));
  expect(isGenuine(call, secret)).toBe(true);
  expect(isGenuine(call, otherSecret)).toBe(false);
  const changed = Buffer.from(String(call.body).replace('critical', 'harmless'));
  expect(isGenuine({ ...call, body: changed }, secret)).toBe(false);
});

it('The reference library accepts it', async () => {
  const { body, id, timestamp, signature } = await deliver({ secret }, messageWith(), Date.now);
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({ event: 'day-late' });
});

it('A secret without whsec_ is understood as text and as base64', async () => {
  const plain = Buffer.from('thirty-two bytes of a secret key').toString('base64');
  const call = await deliver({ secret: plain });
  expect(isGenuine(call, `whsec_${plain}`)).toBe(true);
  expect(isGenuine(call, `whsec_${Buffer.from(plain).toString('base64')}`)).toBe(true);
});
