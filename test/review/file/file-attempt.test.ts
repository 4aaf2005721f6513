import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import { convertFailures, inSession } from '../../../src/review/file/file-attempt.js';
import type { Outcome } from '../../../src/rules/step.js';
import { ArchiveError } from '../../../src/storage/archive.js';
import { SftpError, type SftpServer, type SftpSession } from '../../../src/transports/sftp/sftp.js';
import { claimStep } from '../../contracts/ledger/days.js';
import { attemptOf, prepareFileRun } from './file-run.js';

const done: Outcome = { kind: 'done', evidence: { code: 'ok' } };
const clear = { outcomeUnknown: false, refusedWhenSpent: false };
const notOpened = () => readFile('/nowhere/at/all').then(() => done);
const excess = { code: 'sftp-no-local-space', message: 'Free 3 MB there.' };

describe('the error of a step becomes an outcome:', () => {
  it.each<[object, () => Promise<Outcome>]>([
    [
      { kind: 'retryable', evidence: { code: 'sftp-connection-lost', answer: 'it was lost' }, ...clear },
      failing(new SftpError('retryable', 'connection-lost', 'it was lost')),
    ],
    [
      { kind: 'refused', evidence: { code: 'sftp-permission-denied', answer: 'may not write x' } },
      failing(new SftpError('denied', 'permission-denied', 'may not write x')),
    ],
    [
      { kind: 'fatal', evidence: { code: 'sftp-host-key-refused', answer: 'ask' }, advice: 'ask' },
      failing(new SftpError('fatal', 'host-key-refused', 'ask')),
    ],
    [
      {
        kind: 'retryable',
        evidence: { code: excess.code, answer: excess.message },
        ...clear,
        file: { excess },
      },
      failing(new SftpError('retryable', 'no-local-space', excess.message)),
    ],
    [
      { kind: 'retryable', evidence: { code: 'archive-unreadable', answer: 'no' }, ...clear },
      failing(new ArchiveError('unreadable', 'no')),
    ],
    [
      { kind: 'refused', evidence: { code: 'archive-different-content', answer: 'no' } },
      failing(new ArchiveError('different-content', 'no')),
    ],
    [
      { kind: 'retryable', evidence: { code: 'local-enoent', answer: expect.any(String) }, ...clear },
      notOpened,
    ],
    [done, async () => done],
  ])('%o', async (outcome, work) => {
    expect(await convertFailures(work)).toEqual(outcome);
  });

  it.each([
    new FencedError('r1'),
    new TypeError('a fault of ours'),
    new DOMException('stopped', 'AbortError'),
  ])('any other is rethrown (%#)', async (error) => {
    await expect(convertFailures(() => Promise.reject(error))).rejects.toBe(error);
  });
});

describe('a session of a step', () => {
  it.each<[string, () => Promise<Outcome>]>([
    ['has ended', async () => done],
    ['fails', failing(new FencedError('r1'))],
  ])('is closed when the work %s', async (_, work) => {
    const { sftp, happened } = trackedServer();
    await inSession(await attemptWith(sftp), work).catch(() => {});
    expect(happened).toEqual(['connect', 'close']);
  });

  it('ends when the step has used the server for too long, whatever the work does', async () => {
    const { sftp, happened } = trackedServer();
    const connect: SftpServer['connect'] = async (options) => {
      const session = await sftp.connect(options);
      const stat = () =>
        new Promise<never>((_, reject) =>
          options.signal.addEventListener('abort', () => reject(options.signal.reason)),
        );
      return { ...session, stat };
    };
    const outcome = await inSession(await attemptWith({ connect }, 20), async (session) => {
      for (;;) await session.stat('x');
    });
    expect(outcome).toMatchObject({ kind: 'retryable', evidence: { code: 'sftp-step-too-slow' } });
    expect(happened).toEqual(['connect', 'close']);
  });
});

function failing(error: Error) {
  return () => Promise.reject(error);
}

async function attemptWith(sftp: SftpServer, stepMs = 60_000) {
  const { ledger, parts, run } = await prepareFileRun();
  return attemptOf({ ...parts, sftp, stepMs }, run, await claimStep(ledger, run, 'write'));
}

function trackedServer(): { sftp: SftpServer; happened: string[] } {
  const happened: string[] = [];
  const session: Pick<SftpSession, 'close'> = {
    close: async () => void happened.push('close'),
  };
  const sftp: SftpServer = {
    async connect() {
      happened.push('connect');
      return session as SftpSession;
    },
  };
  return { sftp, happened };
}
