import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import { convertFailures, useSession } from '../../../src/review/file/file-attempt.js';
import type { Outcome } from '../../../src/rules/step.js';
import { ArchiveError } from '../../../src/storage/archive.js';
import { KeyError } from '../../../src/storage/day-keys.js';
import { SftpError, type SftpSession } from '../../../src/transports/sftp/sftp.js';

const clear = { outcomeUnknown: false, refusedWhenSpent: false };
const excess = { code: 'sftp-no-local-space', message: 'Free 3 MB there.' };
const notOpened = Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' });

it.each<[Error, object]>([
  [
    new SftpError('retryable', 'connection-lost', 'it was lost'),
    { kind: 'retryable', evidence: { code: 'sftp-connection-lost', answer: 'it was lost' }, ...clear },
  ],
  [
    new SftpError('denied', 'permission-denied', 'may not write x'),
    { kind: 'refused', evidence: { code: 'sftp-permission-denied', answer: 'may not write x' } },
  ],
  [
    new SftpError('fatal', 'host-key-refused', 'ask'),
    { kind: 'fatal', evidence: { code: 'sftp-host-key-refused', answer: 'ask' }, advice: 'ask' },
  ],
  [
    new SftpError('retryable', 'no-local-space', excess.message),
    {
      kind: 'retryable',
      evidence: { code: excess.code, answer: excess.message },
      ...clear,
      file: { excess },
    },
  ],
  [
    new ArchiveError('unreadable', 'no'),
    { kind: 'retryable', evidence: { code: 'archive-unreadable', answer: 'no' }, ...clear },
  ],
  [
    new ArchiveError('unwritable', 'no', { peer: 'refused' }),
    { kind: 'retryable', evidence: { code: 'archive-refused', answer: 'no' }, ...clear },
  ],
  [
    new KeyError('destroyed', 'it is gone'),
    { kind: 'fatal', evidence: { code: 'key-destroyed' }, advice: 'it is gone' },
  ],
  [
    new ArchiveError('different-content', 'no'),
    { kind: 'refused', evidence: { code: 'archive-different-content', answer: 'no' } },
  ],
  [notOpened, { kind: 'retryable', evidence: { code: 'local-enoent', answer: 'no such file' }, ...clear }],
])('the error %o of a step becomes an outcome', async (error, outcome) => {
  expect(await convertFailures(() => Promise.reject(error))).toEqual(outcome);
});

it.each([new FencedError('r1'), new TypeError('a fault of ours'), new DOMException('stopped', 'AbortError')])(
  'any other is rethrown (%#)',
  async (error) => {
    await expect(convertFailures(() => Promise.reject(error))).rejects.toBe(error);
  },
);

describe('a session of a step', () => {
  async function use(work: () => Promise<Outcome>, stepMs = 60_000) {
    const happened: string[] = [];
    let limit: AbortSignal | undefined;
    const session: Partial<SftpSession> = {
      close: async () => void happened.push('close'),
      stat: () => new Promise((_, reject) => limit?.addEventListener('abort', () => reject(limit?.reason))),
    };
    const sftp = {
      async connect({ signal }: { readonly signal: AbortSignal }) {
        happened.push('connect');
        limit = signal;
        return session as SftpSession;
      },
    };
    const { signal } = new AbortController();
    const outcome = await convertFailures(() =>
      useSession({ sftp, stepMs, signal }, async (open) => {
        if (stepMs < 60_000) await open.stat('x');
        return work();
      }),
    ).catch(() => undefined);
    return { outcome, happened };
  }

  it.each<[string, () => Promise<Outcome>]>([
    ['has ended', async () => ({ kind: 'done', evidence: { code: 'ok' } })],
    ['fails', () => Promise.reject(new FencedError('r1'))],
  ])('is closed when the work %s', async (_, work) => {
    expect((await use(work)).happened).toEqual(['connect', 'close']);
  });

  it('ends when the step has used the server for too long, whatever the work does', async () => {
    const { outcome, happened } = await use(() => Promise.reject(new TypeError('not reached')), 20);
    expect(outcome).toMatchObject({ kind: 'retryable', evidence: { code: 'sftp-step-too-slow' } });
    expect(happened).toEqual(['connect', 'close']);
  });
});
