import type { ChildProcess } from 'node:child_process';
import type { ImapAnswer, ImapLogin, ImapOrder } from './imap-session.js';
import { answerMs, converse, LimitedProcessError, megabyte, type ProcessLimits } from './limited-process.js';
import { createMailbox, type FoundMail, type Mailbox, MailboxError, type MailboxLook } from './mailbox.js';

const dayMs = 86_400_000;
/** Nothing depends on a polite end. */
const leaveMs = 5_000;

/** How much an answer of the mail server may take of the process that talks to it. */
export const fetcherLimits: ProcessLimits = {
  heapBytes: 128 * megabyte,
  processBytes: 384 * megabyte,
  processorMs: 10_000,
};

export interface ImapOptions extends ImapLogin {
  /** How far back e-mails are read. */
  readonly days: number;
  readonly clock: () => number;
}

/**
 * A folder on an IMAP server.
 *
 * @param start starts a limited process that calls `openImapReader`: one for each look, so that no server gets more than that
 */
export function openImapMailbox(options: ImapOptions, start: () => ChildProcess): Mailbox {
  const { days, clock, ...login } = options;
  const { host, port, user, folder } = login;
  const location = `imap://${host}:${port}/${folder}`;

  async function look(signal: AbortSignal): Promise<MailboxLook> {
    signal.throwIfAborted();
    const child = start();
    const kill = () => void child.kill('SIGKILL');
    signal.addEventListener('abort', kill, { once: true });
    const ask = async (order: ImapOrder) => {
      const answer = await converse<ImapAnswer>(child, order).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new MailboxError(`${location} can't be read: ${describeEnd(error)}`, false, { cause: error });
      });
      if (answer.kind !== 'failed') return answer;
      throw new MailboxError(`${location} can't be read: ${answer.why}`, answer.refusesLogin);
    };
    const end = async (isDone: boolean) => {
      if (isDone) await converse(child, { kind: 'leave' }, undefined, leaveMs).catch(() => {});
      signal.removeEventListener('abort', kill);
      kill();
    };
    try {
      // A day more: the server compares dates in its own time zone.
      const opened = await ask({ kind: 'open', login, since: clock() - (days + 1) * dayMs });
      const { uidValidity, uids } = opened.kind === 'opened' ? opened : { uidValidity: '', uids: [] };
      // A UID is unique as long as its folder exists.
      const uidOf = new Map(uids.map((uid) => [`${user} ${uidValidity} ${uid}`, uid]));
      return {
        ...{ keys: [...uidOf.keys()], end },
        fetch: async (key) =>
          toFound(await ask({ kind: 'fetch', uid: uidOf.get(key) ?? '' }), { from: location, key }),
      };
    } catch (error) {
      await end(false);
      throw error;
    }
  }

  return createMailbox(location, look, clock);
}

function toFound(answer: ImapAnswer, about: { readonly from: string; readonly key: string }): FoundMail[] {
  if (answer.kind === 'not-fetched') return [{ ...about, fault: 'not-fetched' }];
  if (answer.kind !== 'fetched') return [];
  const { arrivedAt, ...mail } = answer.mail;
  return mail.bytes
    ? [{ ...about, arrivedAt, bytes: toBuffer(mail.bytes) }]
    : [{ ...about, arrivedAt, fault: 'too-large', head: toBuffer(mail.head) }];
}

/** Bytes arrive from another process as a plain array. */
function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function describeEnd(error: unknown): string {
  if (!(error instanceof LimitedProcessError)) return "the process that reads it can't be started";
  switch (error.fault) {
    case 'too-slow':
      return `no complete answer within ${answerMs / 1_000} s, or one that takes too long to read`;
    case 'too-much-memory':
      return "the server's answer takes too much memory";
    case 'failed':
      return 'the process that reads it ended';
  }
}
