import RedisMock from 'ioredis-mock';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { breakWhenSilent } from '../../src/queue/redis-connection.js';

const silentMs = 1_000;

describe('breakWhenSilent', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A client in that state, whose server answers a PING or doesn't. */
  function watch(status: 'connect' | 'ready', { answers = true, canPing = true } = {}) {
    const client = new RedisMock();
    const ping = vi.fn(() => (answers ? Promise.resolve('PONG') : new Promise<string>(() => {})));
    const disconnect = vi.fn();
    const onSilent = vi.fn();
    Object.assign(client, { status, disconnect });
    const stop = breakWhenSilent(client, { silentMs, onSilent, ...(canPing && { ping }) });
    return { client, ping, disconnect, onSilent, stop };
  }

  it('keeps a connection whose server answers', async () => {
    const { ping, disconnect, onSilent } = watch('ready');
    await vi.advanceTimersByTimeAsync(10 * silentMs);
    expect(ping).toHaveBeenCalledTimes(10);
    expect(onSilent).not.toHaveBeenCalled();
    expect(disconnect).not.toHaveBeenCalled();
  });

  it('reports a server that leaves a PING unanswered, and reconnects', async () => {
    const { disconnect, onSilent } = watch('ready', { answers: false });
    await vi.advanceTimersByTimeAsync(silentMs);
    expect(onSilent).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(silentMs);
    expect(onSilent).toHaveBeenCalledOnce();
    expect(disconnect).toHaveBeenCalledExactlyOnceWith(true);
  });

  it('breaks a connection that never becomes ready', async () => {
    const { ping, disconnect } = watch('connect');
    await vi.advanceTimersByTimeAsync(2 * silentMs);
    expect(disconnect).toHaveBeenCalledExactlyOnceWith(true);
    expect(ping).not.toHaveBeenCalled();
  });

  it.each(['ready', 'close'])('expects no answer to a PING that preceded "%s"', async (event) => {
    const { client, onSilent } = watch('ready', { answers: false });
    await vi.advanceTimersByTimeAsync(silentMs);
    client.emit(event);
    await vi.advanceTimersByTimeAsync(silentMs);
    expect(onSilent).not.toHaveBeenCalled();
  });

  it('sends no PING on a connection that is blocked in a command', async () => {
    const { ping, disconnect } = watch('ready', { canPing: false });
    await vi.advanceTimersByTimeAsync(10 * silentMs);
    expect(ping).not.toHaveBeenCalled();
    expect(disconnect).not.toHaveBeenCalled();
  });

  it('does nothing once it is stopped', async () => {
    const { ping, stop } = watch('ready');
    stop();
    await vi.advanceTimersByTimeAsync(10 * silentMs);
    expect(ping).not.toHaveBeenCalled();
  });
});
