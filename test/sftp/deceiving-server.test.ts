import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SFTPWrapper } from 'ssh2';
import { afterAll, describe, expect, it } from 'vitest';
import type { Answer, Connection } from '../../src/transports/sftp/connection.js';
import { createRemoteCalls } from '../../src/transports/sftp/remote-calls.js';
import { openOddSession } from './odd-session.js';
import { denied, limit, retryable } from './session/outcomes.js';

const local = mkdtempSync(join(tmpdir(), 'deceived-'));
afterAll(() => rmSync(local, { recursive: true }));
const localFile = join(local, 'local');
writeFileSync(localFile, 'content');

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

describe('answers', () => {
  it('may come in any order', async () => {
    const content = randomBytes(1_000_000);
    const { server, session } = await openOddSession({
      async beforeRead(position) {
        if (position > 0) return;
        // By then the others have been answered.
        for (let turns = 0; turns < 1_000; turns += 1) await nextTurn();
      },
    });
    server.put('x', content);
    const to = join(local, 'whole');
    await session.download('x', to, { limit });
    expect(readFileSync(to).equals(content)).toBe(true);
  });

  it('count if they arrived while this process was frozen, longer than it waits', async () => {
    const freeze = () => {
      const until = performance.now() + 200;
      while (performance.now() < until);
    };
    const { server, session } = await openOddSession(
      {
        describe(attributes) {
          freeze();
          return attributes;
        },
      },
      { noProgressMs: 100 },
    );
    server.put('x');
    expect(await session.stat('x')).toMatchObject({ size: 7 });
  });
});
