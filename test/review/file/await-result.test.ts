import { expect, it } from 'vitest';
import { awaitResult } from '../../../src/review/file/await-result.js';
import { ArchiveError } from '../../../src/storage/archive.js';
import { SftpError } from '../../../src/transports/sftp/sftp.js';
import { claimStep } from '../../contracts/ledger/days.js';
import { attemptOf, now, prepareFileRun } from './file-run.js';

const full = new SftpError('retryable', 'no-local-space', 'x is on the server. Free 3 MB there.');

it.each([
  ['does not fit on the local disk', full, 'retryable', 'sftp-no-local-space'],
  ['cannot be archived', new ArchiveError('unwritable', 'full'), 'retryable', 'archive-unwritable'],
  [
    'cannot be written',
    Object.assign(new Error('full'), { syscall: 'write', code: 'ENOSPC' }),
    'retryable',
    'local-enospc',
  ],
  ['is on a server that is away', new SftpError('retryable', 'timeout', ''), 'overdue', 'sftp-timeout'],
] as const)('a result that %s, after its time', async (_, error, kind, code) => {
  const { ledger, finish, parts } = await prepareFileRun();
  await finish('write', { rows: 5 });
  await finish('upload');
  const triggered = await finish('trigger', { triggeredAt: now - parts.resultTimeoutMs });
  const claim = await claimStep(ledger, triggered, 'await-result');
  const sftp = { connect: () => Promise.reject(error) };
  const outcome = await awaitResult(attemptOf({ ...parts, sftp }, triggered, claim));
  expect(outcome).toMatchObject({ kind, evidence: { code } });
});
