import { ImapFlow } from 'imapflow';
import { codeOf, SafeError } from '../text/safe-error.js';
import { type FoundMail, type Mailbox, MailboxError } from './mailbox.js';
import { maxMailBytes } from './read-mail.js';

const dayMs = 86_400_000;
/** How long the server may take to connect, and to answer. */
const connectMs = 15_000;
const silenceMs = 60_000;
/** How long a command may take in all: a server that sends a byte a minute is never silent. */
const commandMs = 300_000;
const maxLineBytes = 16 * 1024 * 1024;

export interface ImapOptions {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly folder: string;
  readonly tls: 'implicit' | 'starttls' | 'none';
  /** How far back e-mails are read. */
  readonly days: number;
  readonly clock: () => number;
}

/** A folder on an IMAP server. It is opened read-only. */
export function openImapMailbox(options: ImapOptions): Mailbox {
  const { host, port, user, folder, days, clock } = options;
  const place = `imap://${host}:${port}/${folder}`;
  const given = new Set<string>();
  /** Those that could not be fetched come last: the others do not wait for them. */
  const failed = new Set<string>();

  /** Connects, opens the folder and finds the e-mails that arrived lately. A UID is unique as long as its folder exists. */
  async function open(client: ImapFlow) {
    await client.connect();
    const { uidValidity } = await client.mailboxOpen(folder, { readOnly: true });
    // A day more: the server compares dates in its own time zone.
    const since = new Date(clock() - (days + 1) * dayMs);
    const found = (await client.search({ since }, { uid: true })) || [];
    return found
      .map((uid) => ({ uid: String(uid), key: `${uidValidity} ${uid}` }))
      .filter(({ key }) => !given.has(key))
      .sort((a, b) => Number(failed.has(a.key)) - Number(failed.has(b.key)));
  }

  /** Undefined for an e-mail that somebody has removed meanwhile. */
  async function fetchMail(client: ImapFlow, uid: string, key: string): Promise<FoundMail | undefined> {
    const about = await client.fetchOne(uid, { size: true, internalDate: true }, { uid: true });
    if (!about) return undefined;
    const arrived = new Date(about.internalDate ?? Number.NaN).getTime();
    const found = { from: place, arrivedAt: Number.isNaN(arrived) ? undefined : arrived };
    if ((about.size ?? 0) > maxMailBytes) {
      // They say who sent it.
      const headers = ['From', 'Authentication-Results'];
      const head = (await client.fetchOne(uid, { headers }, { uid: true })) || undefined;
      return { ...found, head: head?.headers, oversized: `${user} ${key}` };
    }
    const bytes = ((await client.fetchOne(uid, { source: true }, { uid: true })) || undefined)?.source;
    return bytes && { ...found, bytes };
  }

  /** A command that takes too long ends the connection, and so does the signal. */
  function connect(signal: AbortSignal) {
    const client = createClient(options);
    const close = () => client.close();
    signal.addEventListener('abort', close, { once: true });
    const ask = <Result>(command: () => Promise<Result>) => explain(place, () => withinLimit(close, command));
    const end = () => {
      signal.removeEventListener('abort', close);
      close();
    };
    return { client, ask, end };
  }

  return {
    place,
    async *readNew(signal) {
      const { client, ask, end } = connect(signal);
      try {
        for (const { uid, key } of await ask(() => open(client))) {
          signal.throwIfAborted();
          failed.add(key);
          const mail = await ask(() => fetchMail(client, uid, key));
          failed.delete(key);
          if (mail) yield mail;
          given.add(key);
        }
        await ask(() => client.logout());
      } finally {
        end();
      }
    },
    async probe(signal) {
      const { client, ask, end } = connect(signal);
      return { mails: (await ask(() => open(client)).finally(end)).length };
    },
  };
}

function createClient({ host, port, user, password, tls }: ImapOptions): ImapFlow {
  const client = new ImapFlow({
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
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
    maxLineLength: maxLineBytes,
    maxLiteralSize: maxMailBytes + maxLineBytes,
    maxResponseSize: maxMailBytes + 2 * maxLineBytes,
  });
  // Whoever waits for an answer gets the error, too; without a listener it would end the process.
  client.on('error', () => {});
  return client;
}

async function withinLimit<Result>(close: () => void, command: () => Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      close();
      reject(new SafeError(`no complete answer within ${commandMs / 1_000} s`));
    }, commandMs);
  });
  try {
    return await Promise.race([command(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The server's own words are left out: they may quote what was sent to it. */
async function explain<Result>(place: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const why = refusesLogin(error) ? 'the server refused user and password' : describeFault(error);
    throw new MailboxError(`${place} can't be read: ${why}`, refusesLogin(error), { cause: error });
  }
}

/** By ImapFlow's own field. */
function refusesLogin(error: unknown): boolean {
  return error instanceof Error && 'authenticationFailed' in error && error.authenticationFailed === true;
}

function describeFault(error: unknown): string {
  if (error instanceof SafeError) return error.message;
  const { responseStatus }: { [field: string]: unknown } = { ...(error as object) };
  const code = codeOf(error) ?? (error instanceof Error ? error.name : 'unexpected error');
  if (/CERT|ALTNAME|SELF_SIGNED|UNABLE_TO/.test(code))
    return `the certificate of the server is not trusted (${code}); name the file of its authority in NODE_EXTRA_CA_CERTS`;
  if (responseStatus === 'NO') return 'the server does not have that folder, or refuses it';
  return code;
}
