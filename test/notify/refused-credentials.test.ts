import { expect, it } from 'vitest';
import type { PeerFault } from '../../src/base/peer-patience.js';
import { QueueAwayError } from '../../src/booking/step-queue.js';
import { MailboxError } from '../../src/cases/mails/mailbox.js';
import { codeOfFailure } from '../../src/notify/refused-credentials.js';
import { ArchiveAwayError } from '../../src/review/archive-fit.js';
import { findRefusingPeer } from '../../src/rules/peers.js';
import { MappingServiceError } from '../../src/service/errors.js';
import { ArchiveError } from '../../src/storage/archive.js';
import { SftpError } from '../../src/transports/sftp/sftp.js';

const ofService = (code: string) =>
  new MappingServiceError('refused', { kind: 'fatal', code, operation: 'getMappings' });

const archiveAway = (peer: PeerFault) =>
  new ArchiveAwayError('', { cause: new ArchiveError('unreadable', '', { peer }) });

it.each<[Error, string | undefined]>([
  [new SftpError('fatal', 'authentication-refused', ''), 'sftp'],
  [new SftpError('fatal', 'host-key-refused', ''), 'sftp'],
  [new SftpError('retryable', 'connection-lost', ''), undefined],
  [ofService('http-401'), 'service'],
  [ofService('http-503'), undefined],
  [new MailboxError('', true), 'mailbox'],
  [new MailboxError('', false), undefined],
  [archiveAway('refused'), 'archive'],
  [archiveAway('passing'), undefined],
  [new QueueAwayError('redis://queue', 'auth', 'refused'), 'queue'],
  [new QueueAwayError('redis://queue', 'away'), undefined],
  [new Error('login-refused'), undefined],
])('a failure outside a run says whose credentials it is about: %o', (error, peer) => {
  const code = codeOfFailure(error);
  expect(code && findRefusingPeer(code)).toBe(peer);
});
