import { QueueAwayError } from '../booking/step-queue.js';
import { MailboxError } from '../cases/mails/mailbox.js';
import { ArchiveAwayError } from '../review/archive-fit.js';
import { MappingServiceError } from '../service/errors.js';
import { SftpError } from '../transports/sftp/sftp.js';

/** The subject of a problem with a channel of people. */
export const toRefusingChannel = (name: string) => `channel ${name}` as const;

export function isRefusingChannel(subject: string): subject is ReturnType<typeof toRefusingChannel> {
  return subject.startsWith('channel ');
}

/** Whether the receiver of a channel refuses user, password or secret: trying again does not help. */
export function refusesSender(code: string): boolean {
  return /^(?:http-40[13]|smtp-53[0458])$/.test(code);
}

/** The code of an error outside a run, in the form that runs keep; undefined if it is no failure of a peer. */
export function codeOfFailure(error: unknown): string | undefined {
  if (error instanceof SftpError) return `sftp-${error.code}`;
  if (error instanceof MappingServiceError) return error.code;
  if (error instanceof QueueAwayError && error.fault === 'refused') return 'queue-refused';
  if (error instanceof ArchiveAwayError && error.fault === 'refused') return 'archive-refused';
  return error instanceof MailboxError && error.refusesLogin ? 'mailbox-login-refused' : undefined;
}
