import { ImapFlow } from 'imapflow';
import { codeOf, SafeError } from '../text/safe-error.js';
import { type Mailbox, MailboxError } from './mailbox.js';
import { defaultLimits } from './read-mail.js';

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
  readonly commandMs?: number | undefined;
}

/** A folder on an IMAP server. It is opened read-only, unless what was read is to be marked as seen. */
export function openImapMailbox(options: ImapOptions): Mailbox {
  const { host, port, user, folder, days, clock, commandMs: limitMs = commandMs } = options;
  const place = `imap://${host}:${port}/${folder}`;
  const given = new Set<string>();
  /** Those that could not be fetched come last: the others do not wait for them. */
  const failed = new Set<string>();
  const ask = <Result>(client: ImapFlow, command: () => Promise<Result>) =>
    explain(place, () => withinLimit(client, limitMs, command));

  /** Connects, opens the folder and finds the e-mails that arrived lately. */
  async function open(client: ImapFlow): Promise<readonly FoundUid[]> {
    await client.connect();
    const { uidValidity } = await client.mailboxOpen(folder, { readOnly: true });
    // A day more: the server compares dates in its own time zone.
    const since = new Date(clock() - (days + 1) * dayMs);
    const found = (await client.search({ since }, { uid: true })) || [];
    return found
      .map((uid) => ({ uid, key: `${uidValidity} ${uid}` }))
      .filter(({ key }) => !given.has(key))
      .sort((a, b) => Number(failed.has(a.key)) - Number(failed.has(b.key)));
  }

  return {
    place,
    async *readNew(signal) {
      const client = await createClient(options);
      const stop = () => client.close();
      signal.addEventListener('abort', stop, { once: true });
      try {
        for (const { uid, key } of await ask(client, () => open(client))) {
          signal.throwIfAborted();
          failed.add(key);
          const mail = await ask(client, () => fetchMail(client, uid));
          failed.delete(key);
          if (mail)
            yield mail.bytes
              ? { arrivedAt: mail.arrivedAt, bytes: mail.bytes, from: place }
              : { arrivedAt: mail.arrivedAt, head: mail.head, from: place, oversized: `${user} ${key}` };
          given.add(key);
        }
        await ask(client, () => client.logout());
      } finally {
        signal.removeEventListener('abort', stop);
        client.close();
      }
    },
    async probe(signal) {
      const client = await createClient(options);
      const stop = () => client.close();
      signal.addEventListener('abort', stop, { once: true });
      try {
        return { mails: (await ask(client, () => open(client))).length };
      } finally {
        signal.removeEventListener('abort', stop);
        client.close();
      }
    },
  };
}

interface FoundUid {
  readonly uid: number;
  /** A UID is unique as long as its folder exists. */
  readonly key: string;
}

async function createClient({ host, port, user, password, tls }: ImapOptions): Promise<ImapFlow> {
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
    maxLiteralSize: defaultLimits.maxBytes + maxLineBytes,
    maxResponseSize: defaultLimits.maxBytes + 2 * maxLineBytes,
  });
  // Whoever waits for an answer gets the error, too; without a listener it would end the process.
  client.on('error', () => {});
  return client;
}

/** Undefined for an e-mail that somebody has removed meanwhile; without bytes, it is too large. */
async function fetchMail(client: ImapFlow, uid: number) {
  const about = await client.fetchOne(String(uid), { size: true, internalDate: true }, { uid: true });
  if (!about) return undefined;
  const arrived = about.internalDate === undefined ? Number.NaN : new Date(about.internalDate).getTime();
  const arrivedAt = Number.isNaN(arrived) ? undefined : arrived;
  if ((about.size ?? 0) > defaultLimits.maxBytes) {
    const { headers } = (await client.fetchOne(String(uid), { headers: senderHeaders }, { uid: true })) || {};
    return { arrivedAt, head: headers };
  }
  const message = await client.fetchOne(String(uid), { source: true }, { uid: true });
  const source = message ? message.source : undefined;
  return source && { arrivedAt, bytes: source };
}

/** They say who sent an e-mail that is too large to be fetched. */
const senderHeaders = ['From', 'Authentication-Results'];

/** A command that takes longer ends the connection. */
async function withinLimit<Result>(
  client: ImapFlow,
  limitMs: number,
  command: () => Promise<Result>,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      client.close();
      reject(new SafeError(`no complete answer within ${limitMs / 1_000} s`));
    }, limitMs);
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
    if (error instanceof MailboxError) throw error;
    throw new MailboxError(`${place} can't be read: ${describeFault(error)}`, { cause: error });
  }
}

function describeFault(error: unknown): string {
  if (error instanceof SafeError) return error.message;
  if (isRefusal(error)) return 'the server refused user and password';
  const code = codeOf(error) ?? (error instanceof Error ? error.name : 'unexpected error');
  if (/CERT|ALTNAME|SELF_SIGNED|UNABLE_TO/.test(code))
    return `the certificate of the server is not trusted (${code}); name the file of its authority in NODE_EXTRA_CA_CERTS`;
  if (isOfMailbox(error)) return 'the server does not have that folder, or refuses it';
  return code;
}

function isRefusal(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'authenticationFailed' in error &&
    error.authenticationFailed === true
  );
}

function isOfMailbox(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'responseStatus' in error && error.responseStatus === 'NO'
  );
}
