import { type FetchMessageObject, type FetchQueryObject, ImapFlow } from 'imapflow';
import { answerWithin, orAborted, TooLateError } from '../../base/abort.js';
import type { PeerFault } from '../../base/peer-patience.js';
import { codeOf, SafeError } from '../../base/safe-error.js';
import { isNoMail, maxMailBytes, megabyte } from './mail-bytes.js';
import { createMailbox, type Mailbox, MailboxError, type MailboxLook } from './mailbox.js';

const dayMs = 86_400_000;
/** How long the server may take to connect, and to send its next byte. */
const connectMs = 15_000;
const silenceMs = 60_000;
/** How long an answer may take, and a polite end, on which nothing depends. */
const answerMs = 300_000;
const leaveMs = 5_000;
/** How much it may send in answer to a command, in whatever number of lines, besides an e-mail: the numbers of 100,000 e-mails. */
const answerBytes = megabyte;
/** How often it is looked at. */
const meterMs = 50;
/** Few of our answers have more than a hundred. Each takes a hundred bytes of memory, however short it is. */
const mostTokens = 20_000;

interface ImapLogin {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly folder: string;
  readonly tls: 'implicit' | 'starttls' | 'none';
}

export interface ImapOptions extends ImapLogin {
  /** How far back e-mails are read. */
  readonly days: number;
  readonly clock: () => number;
}

/** A folder on an IMAP server. A server may send lines without end, or nothing, whatever it was asked for. */
export function openImapMailbox(options: ImapOptions): Mailbox {
  const { days, clock, ...login } = options;
  const { host, port, user, folder } = login;
  const location = `imap://${host}:${port}/${folder}`;

  async function look(signal: AbortSignal): Promise<MailboxLook> {
    signal.throwIfAborted();
    const session = openSession(login);
    const ask = async <Answer>(work: Promise<Answer>): Promise<Answer> => {
      try {
        const answer = await orAborted(answerWithin(answerMs, work), signal);
        signal.throwIfAborted();
        return answer as Answer;
      } catch (error) {
        session.close();
        signal.throwIfAborted();
        const fault = session.fault() ?? error;
        const refusesLogin = judgeLogin(fault) === 'refused';
        throw new MailboxError(`${location} can't be read: ${describeFault(fault)}`, refusesLogin);
      }
    };
    // A day more: the server compares dates in its own time zone.
    const { uidValidity, uids } = await ask(session.open(clock() - (days + 1) * dayMs));
    // A UID is unique as long as its folder exists.
    const uidOf = new Map(uids.map((uid) => [`${user} ${uidValidity} ${uid}`, uid]));
    return {
      keys: [...uidOf.keys()],
      fetch: async (key) => {
        const found = await ask(session.fetch(uidOf.get(key) ?? ''));
        return found === 'gone' ? [] : [{ from: location, key, ...found }];
      },
      async end(isDone) {
        if (isDone) await answerWithin(leaveMs, session.leave()).catch(() => {});
        session.close();
      },
    };
  }

  return createMailbox(location, look, clock);
}

/** An e-mail, or why it was not read. */
type Fetched =
  | { readonly arrivedAt: number | undefined; readonly bytes: Buffer }
  | { readonly arrivedAt: number | undefined; readonly fault: 'too-large'; readonly head: Buffer }
  /** The server still lists it, and does not hand it out. */
  | { readonly fault: 'not-fetched' };

function openSession(login: ImapLogin) {
  const client = createClient(login);
  const { folder } = login;
  /** Why the connection ended: whoever waits for an answer learns only that it did. */
  let fault: unknown;
  client.on('error', (error) => {
    fault ??= error;
  });
  let allowedBytes = 0;
  const meter = setInterval(() => {
    if (client.stats(false).received <= allowedBytes) return;
    fault ??= new SafeError('the server sends more than it was asked for');
    client.close();
  }, meterMs);
  const allow = (bytes = answerBytes) => {
    allowedBytes = client.stats(false).received + bytes;
  };

  async function search(
    query: { readonly since: Date } | { readonly uid: string } | { readonly seq: string },
  ) {
    allow();
    const found = await client.search(query, { uid: true });
    // Not the same as finding none.
    if (!found) throw new SafeError('the server refuses to search the folder');
    return found.map(String);
  }

  /** Undefined where the server answers without it, or refuses. */
  async function fetchPart(uid: string, query: FetchQueryObject, bytes?: number) {
    allow(bytes);
    const found = await client.fetchOne(uid, query, { uid: true }).catch((error: unknown) => {
      if (isRefusal(error)) return false as const;
      throw error;
    });
    return found || undefined;
  }

  async function fetchMail(uid: string): Promise<Fetched | undefined> {
    const about = await fetchPart(uid, { size: true, internalDate: true });
    if (!about) return undefined;
    const arrivedAt = readArrival(about);
    if ((about.size ?? 0) > maxMailBytes) {
      // They say who sent it.
      const headers = ['From', 'Authentication-Results'];
      const head = (await fetchPart(uid, { headers }))?.headers;
      return head && head.length > 0 ? { arrivedAt, fault: 'too-large', head } : undefined;
    }
    const bytes = (await fetchPart(uid, { source: true }, (about.size ?? maxMailBytes) + answerBytes))
      ?.source;
    return bytes && !isNoMail(bytes) ? { arrivedAt, bytes } : undefined;
  }

  return {
    fault: () => fault,

    close() {
      clearInterval(meter);
      client.close();
    },

    async open(since: number) {
      allow();
      await client.connect();
      allow();
      const mailbox = await client.mailboxOpen(folder, { readOnly: true });
      const uids = await search({ since: new Date(since) });
      // Some servers answer every search without naming any e-mail.
      if (uids.length === 0 && mailbox.exists > 0 && (await search({ seq: '1' })).length === 0)
        throw new SafeError('the server says that there are e-mails, and finds none of them');
      return { uidValidity: String(mailbox.uidValidity), uids };
    },

    /** `gone`: somebody has removed it meanwhile. */
    async fetch(uid: string): Promise<Fetched | 'gone'> {
      const mail = await fetchMail(uid);
      if (mail) return mail;
      if ((await search({ uid })).length === 0) return 'gone';
      return (await fetchMail(uid)) ?? { fault: 'not-fetched' };
    },

    leave() {
      allow();
      return client.logout();
    },
  };
}

function createClient({ host, port, user, password, tls }: ImapLogin): ImapFlow {
  return new ImapFlow({
    host,
    port,
    secure: tls === 'implicit',
    // False forbids it, true demands it.
    ...(tls !== 'implicit' && { doSTARTTLS: tls === 'starttls' }),
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    auth: { user, pass: password },
    logger: false,
    disableAutoIdle: true,
    disableCompression: true,
    // Some servers find nothing in it.
    disableIMAP4rev2: true,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
    maxLineLength: answerBytes,
    maxLiteralSize: maxMailBytes + megabyte,
    maxResponseSize: maxMailBytes + 2 * megabyte,
    maxResponseTokens: mostTokens,
  });
}

function readArrival({ internalDate }: FetchMessageObject): number | undefined {
  const arrived = new Date(internalDate ?? Number.NaN).getTime();
  return Number.isNaN(arrived) ? undefined : arrived;
}

/** What a server answers that could check nothing, or has too many connections. (RFC 5530.) */
const passingRefusals: readonly unknown[] = ['UNAVAILABLE', 'INUSE', 'LIMIT', 'SERVERBUG'];

/** What a refused login means, by ImapFlow's own fields. */
function judgeLogin(error: unknown): PeerFault | undefined {
  const { authenticationFailed, serverResponseCode }: { [field: string]: unknown } = { ...(error as object) };
  if (authenticationFailed !== true) return undefined;
  return passingRefusals.includes(serverResponseCode) ? 'passing' : 'refused';
}

/** Whether the server answered NO or BAD, and would answer other commands. */
function isRefusal(error: unknown): boolean {
  const { responseStatus }: { [field: string]: unknown } = { ...(error as object) };
  return (responseStatus === 'NO' || responseStatus === 'BAD') && codeOf(error) !== 'ETHROTTLE';
}

/** The server's own words are left out: they may quote what was sent to it. */
function describeFault(error: unknown): string {
  if (error instanceof SafeError) return error.message;
  if (error instanceof TooLateError) return `no complete answer within ${answerMs / 1_000} s`;
  const login = judgeLogin(error);
  if (login)
    return login === 'refused' ? 'the server refused user and password' : 'the server takes no logins now';
  const code = codeOf(error) ?? (error instanceof Error ? error.name : 'unexpected error');
  if (/CERT|ALTNAME|SELF_SIGNED|UNABLE_TO/.test(code))
    return `the certificate of the server is not trusted (${code}); name the file of its authority in NODE_EXTRA_CA_CERTS`;
  if (/TooLarge$|^TooMany/.test(code)) return `an answer of the server is too large (${code})`;
  if (isRefusal(error)) return 'the server does not have that folder, or refuses it';
  return code;
}
