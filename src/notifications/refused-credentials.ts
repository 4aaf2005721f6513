import { MappingServiceError } from '../mapping-service/errors.js';
import { QueueAwayError } from '../review/queue.js';
import { loginRefusals, SftpError } from '../sftp/sftp.js';
import { MailboxError } from '../verdict-mails/mailbox.js';

/** Who refuses our credentials, or is not the server it was. It is the subject of `credentials-refused`. */
export type RefusingPeer = 'service' | 'sftp' | 'source' | 'mailbox' | 'queue';

const codes: Readonly<Record<RefusingPeer, readonly string[]>> = {
  service: ['http-401', 'http-403', 'code-2003'],
  sftp: loginRefusals.map((code) => `sftp-${code}`),
  source: ['login-refused'],
  mailbox: ['mailbox-login-refused'],
  queue: ['queue-refused'],
};

/** Whose credentials a failure with this code, of a run or of `codeOfFailure`, is about; undefined if it is about none. */
export function findRefusingPeer(code: string): RefusingPeer | undefined {
  return (Object.keys(codes) as RefusingPeer[]).find((peer) => codes[peer].includes(code));
}

/** The code of an error outside a run, in the form that runs keep; undefined if it is no failure of a peer. */
export function codeOfFailure(error: unknown): string | undefined {
  if (error instanceof SftpError) return `sftp-${error.code}`;
  if (error instanceof MappingServiceError) return error.code;
  if (error instanceof QueueAwayError && error.fault === 'refused') return 'queue-refused';
  return error instanceof MailboxError && error.refusesLogin ? 'mailbox-login-refused' : undefined;
}
