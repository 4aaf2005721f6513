import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ImapCommand {
  readonly tag: string;
  /** In capitals, such as `UID FETCH 7 (BODY.PEEK[] UID)`. */
  readonly text: string;
  readonly socket: Socket;
}

/** What a server says instead of a proper answer; undefined for the proper one, '' for none. */
export type Oddly = (command: ImapCommand) => string | undefined;

/** A plain IMAP server with one folder, whose e-mails are given by their UIDs. It is closed when the test ends. */
export async function startImapServer(mails: Map<number, string>, oddly: Oddly = () => undefined) {
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.write('* OK ready\r\n');
    let rest = '';
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [, tag = '', written = ''] = /^(\S+) (.*)$/.exec(line) ?? [];
        const command = { tag, text: written.toUpperCase(), socket };
        commands.push(command.text);
        if (!socket.destroyed) socket.write(oddly(command) ?? answerProperly(command, mails), 'latin1');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, commands, connections: () => sockets.size };
}

function answerProperly({ tag, text }: ImapCommand, mails: ReadonlyMap<number, string>): string {
  const done = `${tag} OK done\r\n`;
  if (text.startsWith('CAPABILITY')) return `* CAPABILITY IMAP4rev1\r\n${done}`;
  if (/^(?:SELECT|EXAMINE)/.test(text))
    return `* ${mails.size} EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n${tag} OK [READ-ONLY] done\r\n`;
  if (text.startsWith('LIST')) return `* LIST () "/" INBOX\r\n${done}`;
  if (text.startsWith('LOGOUT')) return `* BYE bye\r\n${done}`;
  if (text.startsWith('UID SEARCH')) {
    const [, wanted] = /UID SEARCH UID (\d+)/.exec(text) ?? [];
    const found = [...mails.keys()].filter((uid) => wanted === undefined || uid === Number(wanted));
    return `* SEARCH ${found.join(' ')}\r\n${done}`;
  }
  if (text.startsWith('UID FETCH')) return fetchProperly(text, mails) + done;
  return done;
}

function fetchProperly(text: string, mails: ReadonlyMap<number, string>): string {
  const uid = Number(/UID FETCH (\d+)/.exec(text)?.[1]);
  const mail = mails.get(uid);
  if (mail === undefined) return '';
  const place = [...mails.keys()].indexOf(uid) + 1;
  const content = text.includes('BODY.PEEK[]')
    ? `BODY[] {${Buffer.byteLength(mail, 'latin1')}}\r\n${mail}`
    : `RFC822.SIZE ${mail.length} INTERNALDATE "20-Nov-2026 10:00:00 +0000"`;
  return `* ${place} FETCH (UID ${uid} ${content})\r\n`;
}
