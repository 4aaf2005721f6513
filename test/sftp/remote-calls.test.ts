import type { SFTPWrapper } from 'ssh2';
import type SftpClient from 'ssh2-sftp-client';
import { describe, expect, it, vi } from 'vitest';
import { createRemoteCalls } from '../../src/transports/sftp/remote-calls.js';

/** Calls on a connection with a fake ssh2. */
function callsOn({ files = {}, client = {} }: { files?: object; client?: object }) {
  const onAnswer = vi.fn();
  const waiting = new Set<(reason: unknown) => void>();
  const remote = createRemoteCalls({
    files: files as SFTPWrapper,
    client: client as SftpClient,
    maxEntries: 100,
    onAnswer,
    whenEnded: (reject) => {
      waiting.add(reject);
      return () => waiting.delete(reject);
    },
  });
  return { remote, onAnswer, waiting };
}

describe('a call', () => {
  it('counts its answer as progress, and stops waiting', async () => {
    const { remote, onAnswer, waiting } = callsOn({
      files: { unlink: (_path: string, answer: () => void) => answer() },
    });
    await remote.unlink('x');
    expect(onAnswer).toHaveBeenCalledOnce();
    expect(waiting.size).toBe(0);
  });

  it('counts a refusal as progress, too', async () => {
    const refusal = Object.assign(new Error('Failure'), { code: 4 });
    const { remote, onAnswer } = callsOn({
      files: { unlink: (_path: string, answer: (error: Error) => void) => answer(refusal) },
    });
    await expect(remote.unlink('x')).rejects.toBe(refusal);
    expect(onAnswer).toHaveBeenCalledOnce();
  });

  it('ends with the connection when ssh2 never answers', async () => {
    const { remote, waiting } = callsOn({ files: { stat: () => {} } });
    const pending = remote.stat('x');
    const reason = new Error('the server closed the connection');
    for (const reject of waiting) reject(reason);
    await expect(pending).rejects.toBe(reason);
    expect(waiting.size).toBe(0);
  });

  it('stops waiting when ssh2 throws', async () => {
    const { remote, waiting } = callsOn({
      files: {
        stat: () => {
          throw new Error('Not connected');
        },
      },
    });
    await expect(remote.stat('x')).rejects.toThrow('Not connected');
    expect(waiting.size).toBe(0);
  });
});

describe('an upload', () => {
  it('makes progress with each piece that arrived', async () => {
    const { remote, onAnswer } = callsOn({
      client: {
        fastPut: async (
          _from: string,
          _to: string,
          { step }: { step: (done: number, chunk: number, total: number) => void },
        ) => {
          step(10, 10, 30);
          step(30, 20, 30);
        },
      },
    });
    const onProgress = vi.fn();
    await remote.upload('x', 'y', onProgress);
    expect(onProgress.mock.calls).toEqual([
      [10, 30],
      [30, 30],
    ]);
    expect(onAnswer).toHaveBeenCalledTimes(3);
  });

  it('makes no progress when the local file is exhausted', async () => {
    const { remote, onAnswer, waiting } = callsOn({
      client: {
        fastPut: (
          _from: string,
          _to: string,
          { step }: { step: (done: number, chunk: number, total: number) => void },
        ) => {
          step(10, 0, 30);
          return new Promise(() => {});
        },
      },
    });
    const pending = remote.upload('x', 'y');
    expect(onAnswer).not.toHaveBeenCalled();
    for (const reject of waiting) reject(new Error('stalled'));
    await expect(pending).rejects.toThrow('stalled');
  });
});

describe('a rename that replaces', () => {
  it.each([
    [
      'is not announced',
      () => {
        throw new Error('Server does not support this extended request');
      },
    ],
    [
      'is announced and not known',
      (_from: string, _to: string, answer: (error: Error) => void) =>
        answer(Object.assign(new Error('Unsupported'), { code: 8 })),
    ],
  ])('is unsupported where it %s', async (_what, rename) => {
    const { remote } = callsOn({ files: { ext_openssh_rename: rename } });
    expect(await remote.renameReplacing('x', 'y')).toBe('unsupported');
  });
});
