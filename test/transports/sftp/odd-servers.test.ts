import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Attributes, SFTPWrapper } from 'ssh2';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Answer, Connection } from '../../../src/transports/sftp/connection.js';
import { createRemoteCalls } from '../../../src/transports/sftp/remote-calls.js';
import { createSftpServer, type SftpServerOptions } from '../../../src/transports/sftp/server.js';
import { createGate } from '../../support/gate.js';
import { type Oddities, startOddSftp } from '../../support/odd-sftp.js';
import { denied, limit, retryable } from './session/trial.js';

const local = mkdtempSync(join(tmpdir(), 'odd-'));
afterAll(() => rmSync(local, { recursive: true }));
const localFile = join(local, 'day.csv');
writeFileSync(localFile, 'content');

/** A session with an odd server; both end with the test. */
async function openOddSession(
  oddities: Oddities,
  options: Partial<SftpServerOptions> = {},
  signal = new AbortController().signal,
) {
  const server = await startOddSftp(oddities);
  onTestFinished(() => server.stop());
  const { port, login, root, fingerprints } = server;
  const limits = { lateSizeMs: 0 };
  const session = await createSftpServer({
    ...{ host: '127.0.0.1', port, ...login, root, hostKeys: fingerprints, limits },
    ...options,
  }).connect({ signal });
  onTestFinished(() => session.close());
  function put(path: string, content: string | Buffer = 'content'): void {
    mkdirSync(dirname(server.disk(path)), { recursive: true });
    writeFileSync(server.disk(path), content);
  }
  return { server: { ...server, put }, session };
}

const without = (...names: (keyof Attributes)[]): Required<Pick<Oddities, 'describe'>> => ({
  describe: (attributes) =>
    Object.fromEntries(Object.entries(attributes).filter(([name]) => !(names as string[]).includes(name))),
});
const withoutType: Oddities = {
  describe: (attributes) => ({ ...attributes, mode: attributes.mode & 0o777 }),
};
const clock: Oddities = {
  describe: (attributes) => ({ ...attributes, mtime: Math.floor(Date.now() / 1_000) }),
};

it.each<[string, Oddities]>([
  ['no permissions', without('mode')],
  ['no type', withoutType],
  ['no permissions, and no long name', { ...without('mode'), longname: () => '' }],
  [
    'nothing at all in a listing',
    {
      describe: (attributes, where) => (where === 'listing' ? {} : attributes),
      longname: () => '',
    },
  ],
])('attributes with %s: files are found, and folders are made', async (_what, oddities) => {
  const { server, session } = await openOddSession(oddities);
  await session.makeFolder('a/b');
  await session.makeFolder('a/b');
  server.put('a/b/x.csv');
  expect(await session.list('a/b')).toMatchObject([{ name: 'x.csv', size: 7 }]);
  expect(await session.stat('a/b/x.csv')).toMatchObject({ name: 'x.csv', size: 7 });
  await session.download('a/b/x.csv', join(local, 'received'), { limit });
  expect(readFileSync(join(local, 'received'), 'utf8')).toBe('content');
  expect(Buffer.from(await session.readRange('a/b/x.csv', { from: 4, to: 7 })).toString()).toBe('ent');
  await session.upload(localFile, 'a/b/y.csv');
  // The server may keep only so many open.
  const opened = server.requests.filter((name) => ['OPEN', 'OPENDIR'].includes(name));
  expect(server.requests.filter((name) => name === 'CLOSE')).toHaveLength(opened.length);
});

it('the long name tells a folder where the attributes do not', async () => {
  const { server, session } = await openOddSession(without('mode'));
  server.put('a/below/x.csv');
  server.put('a/y.csv');
  expect((await session.list('a')).map(({ name }) => name)).toEqual(['y.csv']);
});

it('a file in the place of a folder is no folder', async () => {
  const { server, session } = await openOddSession(without('mode'));
  server.put('a');
  await expect(session.makeFolder('a/b')).rejects.toThrow(`${server.root}/a`);
});

it('sizes that are never reported are an error, and no file of no bytes', async () => {
  const { server, session } = await openOddSession(without('size'));
  server.put('x');
  await expect(session.stat('x')).rejects.toMatchObject({ kind: 'denied', code: 'no-size' });
});

it.each<[string, Oddities, 'none' | 'clock']>([
  ['no times', without('mtime'), 'none'],
  ['times of 0', { describe: (attributes) => ({ ...attributes, mtime: 0 }) }, 'none'],
  ['the present time', clock, 'clock'],
])('%s: an unchanged file is read, and a change of its size still shows', async (_what, oddities, kept) => {
  const { server, session } = await openOddSession(oddities);
  server.put('x');
  const seen = await session.stat('x');
  if (!seen) throw new Error('expected a file');
  expect('modifiedAt' in seen).toBe(kept === 'clock');
  expect(await session.examineTime('x')).toBe(kept);
  // By now the clock has moved on.
  expect(await session.hasChanged('x', seen)).toBe(false);
  server.put('x', 'content, and more');
  expect(await session.hasChanged('x', seen)).toBe(true);
  rmSync(server.disk('x'));
  expect(await session.hasChanged('x', seen)).toBe(true);
});

it('a time that has changed shows a change where the server keeps times', async () => {
  const { server, session } = await openOddSession({});
  server.put('x');
  const seen = await session.stat('x');
  if (!seen) throw new Error('expected a file');
  expect(await session.examineTime('x')).toBe('kept');
  expect(await session.hasChanged('x', seen)).toBe(false);
  expect(await session.hasChanged('x', { ...seen, modifiedAt: 1_000 })).toBe(true);
});

it('the part of a file without a time is not continued: it may be of another one', async () => {
  const { server, session } = await openOddSession(without('mtime'));
  server.put('x');
  const to = join(local, 'resumed');
  writeFileSync(`${to}.7-undefined.part`, 'OTHER');
  writeFileSync(`${to}.part`, 'OTHER');
  await session.download('x', to, { limit, resumes: true });
  expect(readFileSync(to, 'utf8')).toBe('content');
});

it('a size that arrives late is waited for', async () => {
  let looks = 0;
  const { server, session } = await openOddSession(
    {
      describe(attributes, where, path) {
        if (where !== 'stat' || !path.endsWith('.tmp')) return attributes;
        looks += 1;
        return looks > 3 ? attributes : { ...attributes, size: 0 };
      },
    },
    { limits: {} },
  );
  await session.upload(localFile, 'x.tmp');
  expect(looks).toBe(4);
  expect(await session.publish('x.tmp', 'x', 7)).toMatchObject({ name: 'x', size: 7 });
  expect(readFileSync(server.disk('x'), 'utf8')).toBe('content');
});

it('a missing path that is answered with FAILURE is missing', async () => {
  const { server, session } = await openOddSession({ missingIsFailure: true });
  expect(await session.stat('a/b/x')).toBeUndefined();
  expect(await session.list('a/b')).toEqual([]);
  expect(await session.remove('x')).toBe('absent');
  await session.makeFolder('a/b');
  await session.upload(localFile, 'a/b/x.tmp');
  await session.publish('a/b/x.tmp', 'a/b/x', 7);
  expect(readdirSync(server.disk('a/b'))).toEqual(['x']);
});

it('a FAILURE for a path that is there is a failure', async () => {
  const { server, session } = await openOddSession({
    missingIsFailure: true,
    refuse: (request, path) => (request === 'STAT' && path.endsWith('/x') ? 'failure' : undefined),
  });
  server.put('x');
  await expect(session.stat('x')).rejects.toEqual(retryable('server-failure'));
  expect(await session.remove('x')).toBe('removed');
  expect(await session.stat('x')).toBeUndefined();
});

it('a file that cannot be removed without a reason is still there', async () => {
  const { server, session } = await openOddSession({
    refuse: (request) => (request === 'REMOVE' ? 'failure' : undefined),
  });
  server.put('x');
  expect(await session.remove('x')).toBe('denied');
});

it.each(['answered', 'unanswered'] as const)(
  'a connection that is cut after every %s rename is opened again',
  async (cutsAfterRename) => {
    const { server, session } = await openOddSession({ cutsAfterRename });
    for (const content of ['first', 'second']) {
      writeFileSync(join(local, content), content);
      await session.upload(join(local, content), 'x.tmp');
      const published = await session.publish('x.tmp', 'x', content.length);
      expect(published).toMatchObject({ name: 'x', size: content.length });
      expect(readFileSync(server.disk('x'), 'utf8')).toBe(content);
      expect(existsSync(server.disk('x.tmp'))).toBe(false);
    }
    // The second time, the first rename failed: the target was there.
    expect(server.requests.filter((name) => name === 'RENAME')).toHaveLength(3);
  },
);

it('a connection that is opened again ends with the signal, too', async () => {
  const stop = new AbortController();
  const { server, session } = await openOddSession(
    { cutsAfterRename: 'answered', refuse: (request) => (request === 'OPENDIR' ? 'silence' : undefined) },
    { noProgressMs: 3_600_000 },
    stop.signal,
  );
  server.put('x.tmp');
  await session.publish('x.tmp', 'x', 7);
  const listing = session.list('');
  await expect.poll(() => server.requests).toContain('OPENDIR');
  const reason = new Error('asked to stop');
  stop.abort(reason);
  await expect(listing).rejects.toBe(reason);
});

it('a connection that is always cut is given up', async () => {
  const { server, session } = await openOddSession({
    refuse: (request) => (request === 'RENAME' ? 'cut' : undefined),
  });
  server.put('x.tmp');
  await expect(session.publish('x.tmp', 'x', 7)).rejects.toEqual(retryable('connection-lost'));
  expect(server.requests.filter((name) => name === 'RENAME')).toHaveLength(3);
  expect(readdirSync(server.disk(''))).toEqual(['x.tmp']);
});

it('a channel that is closed ends the session, although the connection stays open', async () => {
  const { session } = await openOddSession(
    { refuse: (request) => (request === 'STAT' ? 'channel' : undefined) },
    { noProgressMs: 3_600_000 },
  );
  for (let times = 0; times < 2; times += 1)
    await expect(session.stat('x')).rejects.toEqual(retryable('connection-lost'));
});

it('a server that offers no other checksum than that of SHA-1 is refused', async () => {
  const connecting = openOddSession({ algorithms: { cipher: ['aes128-ctr'], hmac: ['hmac-sha1'] } });
  await expect(connecting).rejects.toMatchObject({ kind: 'fatal', code: 'no-common-algorithm' });
});

it('a wrong password is refused, and not revealed', async () => {
  const password = 's3cret';
  const error = await openOddSession({}, { password }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'SftpError', kind: 'fatal', code: 'authentication-refused' });
  expect(String(error)).not.toContain(password);
});

it('a name that nobody knows is retryable', async () => {
  const connecting = openOddSession({}, { host: 'nobody.invalid' });
  await expect(connecting).rejects.toMatchObject({ kind: 'retryable', code: 'host-not-found' });
});

it('a root that is not there is named with its path', async () => {
  const { session } = await openOddSession({}, { root: '/nowhere' });
  await expect(session.makeFolder('VerifyMappings/112026')).rejects.toThrow(
    'make the folder /nowhere/VerifyMappings/112026: no such file or folder on the server',
  );
});

describe('a server that answers every write with success', () => {
  it.each([
    ['and keeps a part', 'cont', 'short-upload'],
    ['and keeps other bytes', 'CONTENT', 'damaged-upload'],
    ['and keeps nothing', '', 'short-upload'],
  ])('%s', async (_what, kept, code) => {
    const { session } = await openOddSession({ keep: () => Buffer.from(kept) });
    await expect(session.upload(localFile, 'x')).rejects.toEqual(retryable(code));
  });

  it('and allows no reading is trusted if the size is right', async () => {
    let opened = 0;
    const { session } = await openOddSession({
      refuse(request) {
        if (request === 'OPEN') opened += 1;
        return request === 'OPEN' && opened > 1 ? 'denied' : undefined;
      },
    });
    await session.upload(localFile, 'x');
    expect(opened).toBe(2);
  });
});

describe('a server that fails without a reason', () => {
  it('has a short file, as on a full disk', async () => {
    const { session } = await openOddSession({
      refuse: (request) => (request === 'WRITE' ? 'failure' : undefined),
    });
    await expect(session.upload(localFile, 'x')).rejects.toEqual(retryable('short-upload'));
  });

  it('is not trusted even when the size is right', async () => {
    const { session } = await openOddSession({ failsAfter: 'WRITE' });
    await expect(session.upload(localFile, 'x')).rejects.toEqual(retryable('server-failure'));
  });

  it('keeps the uploaded file when no old one was the cause of a failed rename', async () => {
    const { server, session } = await openOddSession({
      refuse: (request) => (request === 'RENAME' ? 'failure' : undefined),
    });
    server.put('x.tmp');
    await expect(session.publish('x.tmp', 'x', 7)).rejects.toEqual(retryable('server-failure'));
    expect(readdirSync(server.disk(''))).toEqual(['x.tmp']);
  });
});

describe('a server whose rename does not replace files', () => {
  it('keeps what a successor published while this process was frozen', async () => {
    const { server, session } = await openOddSession({
      refuse(request) {
        if (request !== 'RENAME') return undefined;
        // It wakes only now, after its successor has cleaned up and published.
        server.put('new', 'new one');
        rmSync(server.disk('x.tmp'));
        renameSync(server.disk('new'), server.disk('x'));
        return 'failure';
      },
    });
    server.put('x.tmp');
    await expect(session.publish('x.tmp', 'x', 7)).rejects.toEqual(retryable('source-missing'));
    expect(readFileSync(server.disk('x'), 'utf8')).toBe('new one');
  });

  it('loses nothing by one that it denies', async () => {
    const { server, session } = await openOddSession({
      refuse: (request) => (request === 'RENAME' ? 'denied' : undefined),
    });
    server.put('x.tmp');
    server.put('x', 'old');
    await expect(session.publish('x.tmp', 'x', 7)).rejects.toEqual(denied);
    expect(readFileSync(server.disk('x'), 'utf8')).toBe('old');
    expect(existsSync(server.disk('x.tmp'))).toBe(true);
  });

  it('may announce one that does and not know it', async () => {
    const unknown = Object.assign(new Error('Unsupported'), { code: 8 });
    const files = {
      ext_openssh_rename: (_from: string, _to: string, answer: Answer<void>) => answer(unknown),
    };
    const ask = <T>(start: (answer: Answer<T>) => void) =>
      new Promise<T>((resolve, reject) =>
        start((error, value) => (error ? reject(error) : resolve(value as T))),
      );
    const connection = { files: files as unknown as SFTPWrapper, ask } as Connection;
    expect(await createRemoteCalls(connection, 1).renameReplacing('x', 'y')).toBe('unsupported');
  });
});

it.each([600, 1_600])('after %i ms without a request, the next one has its whole second', async (idleMs) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const asked = createGate();
  const silence: Oddities = {
    refuse(request) {
      if (request !== 'STAT') return undefined;
      asked.open();
      return 'silence';
    },
  };
  const { session } = await openOddSession(silence, { noProgressMs: 1_000 });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(idleMs);
  await turn();
  let isOver = false;
  const looking = session.stat('x').finally(() => {
    isOver = true;
  });
  looking.catch(() => {});
  await asked.passed;
  vi.advanceTimersByTime(999);
  await turn();
  await turn();
  expect(isOver).toBe(false);
  vi.advanceTimersByTime(1);
  await expect(looking).rejects.toEqual(retryable('no-progress'));
});

it('no timer outlives a session', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { session } = await openOddSession({});
  await session.list('');
  await session.close();
  expect(vi.getTimerCount()).toBe(0);
});

describe('answers', () => {
  it('count if they arrived while this process was frozen, longer than it waits', async () => {
    const freeze = () => {
      const until = performance.now() + 2_400;
      while (performance.now() < until);
    };
    const { server, session } = await openOddSession(
      {
        describe(attributes) {
          // Once the answer is on its way.
          setImmediate(freeze);
          return attributes;
        },
      },
      // Long enough for a machine under load to answer.
      { noProgressMs: 2_000 },
    );
    server.put('x');
    expect(await session.stat('x')).toMatchObject({ size: 7 });
  });
});
