import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openImapMailbox } from '../../../src/cases/mails/imap-mailbox.js';
import type { FoundMail } from '../../../src/cases/mails/mailbox.js';
import { describeMailbox } from '../../contracts/mailbox.js';
import { type ImapCommand, type Oddly, startImapServer } from '../../support/imap-server.js';
import { mailOf } from './mails.js';

const mail = (text: string) => mailOf('text/plain', `${text}\r\n`);
const some = () => new Map([1, 2, 3].map((uid) => [uid, mail(`BR-${uid}`)]));

async function prepare(mails = some(), oddly?: Oddly) {
  const server = await startImapServer(mails, oddly);
  let now = Date.parse('2026-11-20T12:00:00Z');
  const mailbox = openImapMailbox({
    ...{ host: '127.0.0.1', port: server.port, user: 'u', password: 'pa55', folder: 'INBOX', tls: 'none' },
    ...{ days: 14, clock: () => now },
  });
  const look = async (signal = new AbortController().signal) => {
    const found: FoundMail[] = [];
    for await (const one of mailbox.readNew(signal)) found.push(one);
    return found.map(({ key, fault, bytes }) => {
      return `${key?.split(' ').at(-1)} ${fault ?? /BR-\d/.exec(String(bytes))?.[0]}`;
    });
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { mails, server, mailbox, look, pass };
}

/** Answers each command that matches, and those that come after it as it should. */
const to =
  (pattern: RegExp, answer: (command: ImapCommand) => string | undefined): Oddly =>
  (command) =>
    pattern.test(command.text) ? answer(command) : undefined;
const ok = ({ tag }: ImapCommand) => `${tag} OK done\r\n`;

describeMailbox('A mailbox on an IMAP server', async () => {
  const mails = new Map<number, string>();
  const { mailbox, pass } = await prepare(mails, ({ tag, text }) => {
    const [, number] = /^UID FETCH (\d+) .*BODY\.PEEK\[\]/.exec(text) ?? [];
    return mails.get(Number(number)) === ''
      ? `* 1 FETCH (UID ${number} BODY[] NIL)\r\n${tag} OK done\r\n`
      : undefined;
  });
  return {
    ...{ mailbox, pass },
    put: (number, text = '') => void mails.set(number, text),
    remove: (number) => void mails.delete(number),
  };
});

describe('A mailbox on an IMAP server', () => {
  it('is read over one connection for each look, which ends with it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { mails, mailbox, look, server } = await prepare();
    expect(await look()).toEqual(['1 BR-1', '2 BR-2', '3 BR-3']);
    mails.set(4, mail('BR-4'));
    expect(await look()).toEqual(['4 BR-4']);
    expect(server.commands.filter((text) => text === 'LOGOUT')).toHaveLength(2);
    await mailbox.probe(new AbortController().signal);
    // Nothing keeps the process alive.
    expect(vi.getTimerCount()).toBe(0);
    // A fortnight, and a day for the server's time zone.
    expect(server.commands.join()).toMatch(/UID SEARCH SINCE 0?5-NOV-2026/);
  });

  it('that is empty, or in which all e-mails are older, is read', async () => {
    const { look, mailbox } = await prepare(new Map());
    expect(await look()).toEqual([]);
    expect(await mailbox.probe(new AbortController().signal)).toEqual({ mails: 0 });
    const old = to(/^UID SEARCH SINCE/, (given) => `* SEARCH\r\n${ok(given)}`);
    expect(await (await prepare(some(), old)).look()).toEqual([]);
  });

  it.each([
    ['refuses to search', ({ tag }: ImapCommand) => `${tag} NO not now\r\n`, 'refuses to search the folder'],
    [
      'finds nothing where something is',
      (given: ImapCommand) => `* SEARCH\r\n${ok(given)}`,
      'finds none of them',
    ],
  ])('is not taken for empty when its server %s', async (_, answer, why) => {
    const { look, mailbox } = await prepare(some(), to(/^UID SEARCH/, answer));
    await expect(look()).rejects.toThrow(why);
    await expect(mailbox.probe(new AbortController().signal)).rejects.toMatchObject({ name: 'MailboxError' });
  });

  it('that was made anew counts its e-mails from 1 again: they are others', async () => {
    let validity = 1;
    const examined = ({ tag }: ImapCommand) =>
      `* 1 EXISTS\r\n* OK [UIDVALIDITY ${validity}] x\r\n${tag} OK [READ-ONLY] done\r\n`;
    const { look } = await prepare(new Map([[1, mail('BR-1')]]), to(/^EXAMINE/, examined));
    expect(await look()).toEqual(['1 BR-1']);
    validity = 2;
    expect(await look()).toEqual(['1 BR-1']);
  });
});

describe('An e-mail that the server lists', () => {
  const body = /^UID FETCH 2 .*BODY\.PEEK\[\]/;

  it.each<[string, Oddly]>([
    ['NULs', to(body, (given) => `* 2 FETCH (UID 2 BODY[] {4}\r\n\0\0\0\0)\r\n${ok(given)}`)],
    ['NO', to(body, ({ tag }) => `${tag} NO broken\r\n`)],
  ])('and answers with %s is given as not fetched', async (_, oddly) => {
    expect(await (await prepare(some(), oddly)).look()).toEqual(['1 BR-1', '2 not-fetched', '3 BR-3']);
  });

  it('and ends the connection over comes last, then is given as not fetched; the others are read', async () => {
    const oddly = to(/^UID FETCH [12] .*BODY/, ({ socket }) => {
      socket.destroy();
      return '';
    });
    const { look } = await prepare(some(), oddly);
    await expect(look()).rejects.toThrow("can't be read");
    await expect(look()).rejects.toThrow("can't be read");
    expect(await look()).toEqual(['3 BR-3', '1 not-fetched', '2 not-fetched']);
  });

  it('and somebody removes meanwhile is passed over', async () => {
    const mails = some();
    const oddly = to(/^UID FETCH 1 /, () => void mails.delete(2));
    expect(await (await prepare(mails, oddly)).look()).toEqual(['1 BR-1', '3 BR-3']);
  });

  it('and is too large is given with the headers that say who sent it', async () => {
    const oddly: Oddly = ({ tag, text }) => {
      const [, asked] = /^UID FETCH 2 .*\[HEADER\.FIELDS \((.*?)\)\]/.exec(text) ?? [];
      const head = `X-Asked: ${asked}\r\n\r\n`;
      const found = asked
        ? `BODY[HEADER.FIELDS (${asked})] {${head.length}}\r\n${head}`
        : /^UID FETCH 2 .*RFC822\.SIZE/.test(text) && `RFC822.SIZE ${25 * 1024 * 1024 + 1}`;
      return found ? `* 2 FETCH (UID 2 ${found})\r\n${tag} OK done\r\n` : undefined;
    };
    const { mailbox } = await prepare(some(), oddly);
    const found: FoundMail[] = [];
    for await (const one of mailbox.readNew(new AbortController().signal)) found.push(one);
    expect(found.map(({ fault }) => fault)).toEqual([undefined, 'too-large', undefined]);
    expect(String(found[1]?.head)).toMatch(/^X-Asked: FROM AUTHENTICATION-RESULTS\r\n/);
  });
});

describe('A hostile IMAP server', () => {
  const flood = (line: string, { socket }: ImapCommand) => {
    const lines = line.repeat(Math.ceil(65_536 / line.length));
    const send = () => {
      while (!socket.destroyed && socket.write(lines));
    };
    socket.on('drain', send);
    send();
    return '';
  };
  const afterLogin = to(/^LOGIN/, (given) => {
    given.socket.write(ok(given));
    return flood('* OK still there\r\n', given);
  });

  it.each<[string, Oddly]>([
    ['lines without end after LOGIN', afterLogin],
    ['a literal of 30 MB', to(/^EXAMINE/, () => `* X {31457280}\r\n${'x'.repeat(31_457_280)}\r\n`)],
    ['1 MB of words', to(/^EXAMINE/, () => `* X ${'a '.repeat(500_000)}\r\n`)],
  ])('that sends %s is not read, and left', async (_, oddly) => {
    const { look } = await prepare(some(), oddly);
    await expect(look()).rejects.toThrow(/can't be read: /);
  });

  it('that hangs is left at once when the look is to end', async () => {
    const { look, server } = await prepare(
      some(),
      to(/^UID SEARCH/, () => ''),
    );
    const stop = new AbortController();
    const looking = look(stop.signal);
    await expect.poll(() => server.commands.some((text) => text.startsWith('UID SEARCH'))).toBe(true);
    stop.abort(new Error('stopped'));
    await expect(looking).rejects.toThrow('stopped');
  });

  it('that takes no logins now refuses no password', async () => {
    for (const why of ['UNAVAILABLE', 'LIMIT', 'inuse']) {
      const { look } = await prepare(
        some(),
        to(/^LOGIN/, ({ tag }) => `${tag} NO [${why}] not now\r\n`),
      );
      await expect(look()).rejects.toMatchObject({
        refusesLogin: false,
        message: expect.stringMatching(/takes no logins now$/),
      });
    }
  });

  it('learns the password, which nobody else does: no error has it', async () => {
    const { look, server } = await prepare(
      some(),
      to(/^LOGIN/, ({ tag, text }) => `${tag} NO ${text}\r\n`),
    );
    const error = await look().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      refusesLogin: true,
      message: expect.stringMatching(/refused user and password$/),
    });
    expect(server.commands.some((text) => text.includes('PA55'))).toBe(true);
    expect(JSON.stringify(error)).not.toMatch(/pa55/i);
  });
});
