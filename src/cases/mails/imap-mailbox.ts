import type { ChildProcess } from 'node:child_process';
import type { FetchedMail, ImapAnswer, ImapLogin, ImapOrder } from './imap-session.js';
import { answerMs, converse, LimitedProcessError, megabyte, type ProcessLimits } from './limited-process.js';
import { type Mailbox, MailboxError, trackMails } from './mailbox.js';

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
  const mails = trackMails(clock);

  function connect(signal: AbortSignal) {
    signal.throwIfAborted();
    const child = start();
    const kill = () => void child.kill('SIGKILL');
    signal.addEventListener('abort', kill, { once: true });

    async function ask(order: ImapOrder): Promise<Exclude<ImapAnswer, { kind: 'failed' }>> {
      const answer = await converse<ImapAnswer>(child, order).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new MailboxError(`${location} can't be read: ${describeEnd(error)}`, false, { cause: error });
      });
      if (answer.kind !== 'failed') return answer;
      throw new MailboxError(`${location} can't be read: ${answer.why}`, answer.refusesLogin);
    }

    return {
      async open() {
        // A day more: the server compares dates in its own time zone.
        const answer = await ask({ kind: 'open', login, since: clock() - (days + 1) * dayMs });
        if (answer.kind !== 'opened') return [];
        // A UID is unique as long as its folder exists.
        return mails.order(answer.uids.map((uid) => ({ uid, key: `${user} ${answer.uidValidity} ${uid}` })));
      },
      fetch: (uid: string) => ask({ kind: 'fetch', uid }),
      async leave() {
        await converse(child, { kind: 'leave' }, undefined, leaveMs).catch(() => {});
      },
      end() {
        signal.removeEventListener('abort', kill);
        kill();
      },
    };
  }

  return {
    location,
    async *readNew(signal) {
      let session = connect(signal);
      try {
        for (const { uid, key } of await session.open()) {
          signal.throwIfAborted();
          const hadFailed = mails.noteTry(key);
          const found = { from: location, key };
          let answer: Awaited<ReturnType<typeof session.fetch>>;
          try {
            answer = await session.fetch(uid);
          } catch (error) {
            // It ended the connection twice, and so might keep the others from being read.
            if (!hadFailed || signal.aborted) throw error;
            session.end();
            session = connect(signal);
            await session.open();
            answer = { kind: 'not-fetched' };
          }
          if (answer.kind === 'not-fetched') yield { ...found, fault: 'not-fetched' };
          else mails.noteFetched(key);
          if (answer.kind === 'fetched') yield { ...found, ...toFound(answer.mail) };
          mails.noteGiven(key);
        }
        await session.leave();
      } finally {
        session.end();
      }
    },
    async probe(signal) {
      const session = connect(signal);
      return { mails: (await session.open().finally(session.end)).length };
    },
  };
}

function toFound(mail: FetchedMail) {
  const { arrivedAt } = mail;
  return mail.bytes
    ? { arrivedAt, bytes: toBuffer(mail.bytes) }
    : { arrivedAt, fault: 'too-large' as const, head: toBuffer(mail.head) };
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
