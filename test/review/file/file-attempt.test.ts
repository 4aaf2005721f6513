import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import { convertFailures, inSession } from '../../../src/review/file/file-attempt.js';
import type { Outcome } from '../../../src/rules/step.js';
import { ArchiveError, type ArchiveErrorCode } from '../../../src/storage/archive.js';
import { SftpError, type SftpServer, type SftpSession } from '../../../src/transports/sftp/sftp.js';
import { claimStep } from '../../contracts/ledger/days.js';
import { attemptOf, prepareFileRun } from './file-run.js';

const done: Outcome = { kind: 'done', evidence: { code: 'ok' } };
const clear = { outcomeUnknown: false, refusedWhenSpent: false };

describe('the error of a step becomes an outcome:', () => {
  it.each<[Error, Outcome]>([
    [
      new SftpError('retryable', 'connection-lost', 'the connection was lost'),
      {
        kind: 'retryable',
        evidence: { code: 'sftp-connection-lost', answer: 'the connection was lost' },
        ...clear,
      },
    ],
    [
      new SftpError('denied', 'permission-denied', 'may not write x'),
      { kind: 'refused', evidence: { code: 'sftp-permission-denied', answer: 'may not write x' } },
    ],
    [
      new SftpError('fatal', 'host-key-refused', 'ask whoever runs the server'),
      {
        kind: 'fatal',
        evidence: { code: 'sftp-host-key-refused', answer: 'ask whoever runs the server' },
        advice: 'ask whoever runs the server',
      },
    ],
    [
      new SftpError('retryable', 'no-local-space', 'x is on the server. Free 3 MB there.'),
      {
        kind: 'retryable',
        evidence: { code: 'sftp-no-local-space', answer: 'x is on the server. Free 3 MB there.' },
        ...clear,
        file: { excess: { code: 'sftp-no-local-space', message: 'x is on the server. Free 3 MB there.' } },
      },
    ],
  ])('of the SFTP server (%#)', async (error, outcome) => {
    expect(await convertFailures(() => Promise.reject(error))).toEqual(outcome);
  });

  it.each<[ArchiveErrorCode, Outcome['kind']]>([
    ['unwritable', 'retryable'],
    ['unreadable', 'retryable'],
    ['absent', 'refused'],
    ['different-content', 'refused'],
    ['unsafe-name', 'refused'],
  ])('of the archive: %s is %s', async (code, kind) => {
    const outcome = await convertFailures(() => Promise.reject(new ArchiveError(code, 'in its words')));
    expect(outcome).toMatchObject({ kind, evidence: { code: `archive-${code}`, answer: 'in its words' } });
    if (kind === 'retryable') expect(outcome).toMatchObject(clear);
  });

  it('of the local disk is retryable, with the system’s message', async () => {
    const outcome = await convertFailures(async () => {
      await readFile('/nowhere/at/all');
      return done;
    });
    expect(outcome).toEqual({
      kind: 'retryable',
      evidence: {
        code: 'local-enoent',
        answer: "ENOENT: no such file or directory, open '/nowhere/at/all'",
      },
      ...clear,
    });
  });

  it.each([
    new FencedError('r1'),
    new TypeError('a fault of ours'),
    new DOMException('stopped', 'AbortError'),
  ])('any other is rethrown (%#)', async (error) => {
    await expect(convertFailures(() => Promise.reject(error))).rejects.toBe(error);
  });

  it('without an error, the outcome of the work is returned', async () => {
    expect(await convertFailures(async () => done)).toBe(done);
  });
});

describe('a session of a step', () => {
  it('is closed when the work has ended', async () => {
    const { sftp, happened } = trackedServer();
    const outcome = await inSession(await attemptWith(sftp), async () => {
      happened.push('work');
      return done;
    });
    expect(outcome).toBe(done);
    expect(happened).toEqual(['connect', 'work', 'close']);
  });

  it.each([new SftpError('denied', 'disk-full', 'full'), new FencedError('r1')])(
    'is closed when the work fails (%#)',
    async (error) => {
      const { sftp, happened } = trackedServer();
      await inSession(await attemptWith(sftp), () => Promise.reject(error)).catch(() => {});
      expect(happened).toEqual(['connect', 'close']);
    },
  );

  it('that cannot be opened is an outcome, too', async () => {
    const connect = () => Promise.reject(new SftpError('fatal', 'authentication-refused', 'check password'));
    expect(await inSession(await attemptWith({ connect }), async () => done)).toMatchObject({
      kind: 'fatal',
      evidence: { code: 'sftp-authentication-refused' },
    });
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
