import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type StandInAnswer, startStandIn } from '../../support/http-stand-in.js';
import { giveUpOn, messageWith, now, open, path, refusalOf, secret, send, webKinds } from './channel-kit.js';

async function receive(answer: StandInAnswer) {
  const receiver = await startStandIn(() => answer);
  onTestFinished(() => receiver.close());
  return { receiver, origin: `http://127.0.0.1:${receiver.port}` };
}

const answerWith = (status: number, headers: Record<string, string> = {}): StandInAnswer => ({
  kind: 'text',
  status,
  // Some receivers quote the request.
  body: `${path} ${secret} hidden-key`,
  headers,
});

describe.each(webKinds)('A channel of kind %s', (_kind, write) => {
  it('posts JSON to its address, and takes 2xx as accepted', async () => {
    const { receiver, origin } = await receive(answerWith(202));
    const channel = await open(write(origin));
    await send(channel);
    await send(channel);
    expect(receiver.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `POST ${path}`,
      `POST ${path}`,
    ]);
    expect(receiver.requests[0]?.rawHeaders.join(' ').toLowerCase()).toContain(
      'content-type application/json',
    );
    expect(JSON.parse(String(receiver.requests[0]?.body))).toEqual(
      JSON.parse(String(receiver.requests[1]?.body)),
    );
  });

  it.each([
    [429, 'http-429', { 'retry-after': '30' }, 30_000],
    [503, 'http-503', { 'retry-after': new Date(now + 60_000).toUTCString() }, 60_000],
    [500, 'http-500', {}, undefined],
    [504, 'http-504', {}, undefined],
    [404, 'http-404', {}, undefined],
  ] as const)(
    'reports a refusal with %i, and how long to wait',
    async (status, code, headers, retryAfterMs) => {
      const { origin } = await receive(answerWith(status, headers));
      const refusal = await refusalOf(send(await open(write(origin))));
      expect(refusal).toMatchObject({
        ...{ name: 'ChannelError', code, retryAfterMs },
        // A proxy says 504 if it got no answer in time.
        mayHaveArrived: status === 504,
      });
      expect(refusal.message).toContain(code);
      expect(refusal.shown).not.toContain('hidden');
    },
  );

  it('follows no redirect', async () => {
    const other = await receive(answerWith(200));
    const { origin } = await receive(answerWith(307, { location: `${other.origin}/elsewhere` }));
    const refusal = await refusalOf(send(await open(write(origin))));
    expect(refusal.code).toBe('http-307');
    expect(refusal.message).toMatch(/redirects are not followed/);
    expect(other.receiver.requests).toHaveLength(0);
  });

  it('gives up on a receiver that never answers', async () => {
    const { origin } = await receive({ kind: 'hang' });
    const refusal = await giveUpOn(write(origin));
    expect(refusal).toMatchObject({ code: 'timeout', retryAfterMs: undefined });
    expect(refusal.shown).not.toContain('hidden');
  });

  it('reports a broken connection, and a refused one', async () => {
    const { origin, receiver } = await receive({ kind: 'drop', when: 'after-reading' });
    const channel = await open(write(origin));
    expect(await refusalOf(send(channel))).toMatchObject({ code: 'connection-reset', mayHaveArrived: true });
    await receiver.close();
    const refusal = await refusalOf(send(channel));
    expect(refusal).toMatchObject({ code: 'connection-refused', mayHaveArrived: false });
    expect(refusal.shown).not.toContain('hidden');
  });

  it('takes the status as the answer, even if the connection breaks after it', async () => {
    const { origin } = await receive({ kind: 'drop', when: 'mid-answer' });
    await send(await open(write(origin)));
  });

  it('does not read an endless answer to its end', async () => {
    const { origin } = await receive({ kind: 'text', body: Buffer.alloc(5_000_000, 'x') });
    await send(await open(write(origin)));
  });

  it('ends at once, with the reason, when it is asked to stop', async () => {
    const { origin, receiver } = await receive({ kind: 'hang' });
    const stop = new AbortController();
    const sending = send(await open(write(origin)), messageWith(), stop.signal);
    await receiver.received(1);
    stop.abort(new Error('stopped'));
    await expect(sending).rejects.toThrow('stopped');
  });

  it('has not reached a receiver whose connection was never complete', async () => {
    const mute = createServer();
    onTestFinished(() => void mute.close());
    await once(mute.listen(0), 'listening');
    const stop = new AbortController();
    const channel = await open(write(`https://localhost:${(mute.address() as AddressInfo).port}`));
    const refusal = refusalOf(send(channel, messageWith(), stop.signal));
    const [socket] = (await once(mute, 'connection')) as [Socket];
    onTestFinished(() => void socket.destroy());
    stop.abort(new Error('stopped'));
    expect(await refusal).toMatchObject({ code: 'timeout', mayHaveArrived: false });
    const late = await refusalOf(send(channel, messageWith(), stop.signal));
    expect(late).toMatchObject({ code: 'timeout', mayHaveArrived: false });
  });
});

describe('Microsoft Teams', () => {
  const deliver = async (body: string) => {
    const { origin } = await receive({ kind: 'text', status: 200, body });
    await send(await open({ kind: 'teams', url: origin }));
  };

  it('may answer 200 and say that nothing was posted', async () => {
    const body =
      'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId x';
    expect(await refusalOf(deliver(body))).toMatchObject({ code: 'teams-429', mayHaveArrived: false });
    const other = 'Webhook message delivery failed with error: Error in the card hidden';
    const refusal = await refusalOf(deliver(other));
    expect(refusal.code).toBe('teams-failed');
    expect(refusal.shown).not.toContain('hidden');
  });

  it.each(['', '1', 'ok', '{"status":"accepted"}'])('accepts with the body %j', (body) => deliver(body));
});
