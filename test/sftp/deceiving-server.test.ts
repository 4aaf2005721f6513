import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RemoteCalls } from '../../src/transports/sftp/remote-calls.js';
import { publishFile, uploadFile } from '../../src/transports/sftp/upload.js';

const folder = mkdtempSync(join(tmpdir(), 'deceived-'));
afterAll(() => rmSync(folder, { recursive: true }));
const localPath = join(folder, 'local');
writeFileSync(localPath, 'content');

const statusError = (code: number, message: string) => Object.assign(new Error(message), { code });

/** The calls of a server without posix-rename whose disk is `files`. */
function callsTo(files: Map<string, string>, different: Partial<RemoteCalls>): RemoteCalls {
  return {
    stat: async (path) => {
      const content = files.get(path);
      if (content === undefined) return undefined;
      return { kind: 'file', size: content.length, mtime: 1, mode: undefined };
    },
    free: async () => undefined,
    list: async () => {},
    isListable: async () => true,
    makeFolder: async () => {},
    unlink: async (path) => {
      files.delete(path);
    },
    rename: async (from, to) => {
      if (files.has(to)) throw statusError(4, 'Failure');
      files.set(to, files.get(from) ?? '');
      files.delete(from);
    },
    renameReplacing: async () => 'unsupported',
    open: async (path) => Buffer.from(path),
    create: async (path) => {
      files.set(path, '');
      return Buffer.from(path);
    },
    write: async (handle, bytes, position) => {
      const written = Buffer.from(files.get(`${handle}`) ?? '', 'latin1');
      const content = Buffer.alloc(Math.max(written.length, position + bytes.length));
      written.copy(content);
      bytes.copy(content, position);
      files.set(`${handle}`, content.toString('latin1'));
    },
    read: async (handle, buffer, length, position) =>
      buffer.write((files.get(`${handle}`) ?? '').slice(position, position + length)),
    close: async () => {},
    upload: async (_localPath, path) => {
      files.set(path, 'content');
    },
    ...different,
  };
}

describe('a server that answers every write with success', () => {
  it.each([
    ['and keeps a part', 'cont', 'short-upload'],
    ['and keeps other bytes', 'CONTENT', 'damaged-upload'],
  ])('%s', async (_what, kept, code) => {
    const files = new Map<string, string>();
    const remote = callsTo(files, {
      upload: async (_localPath, path) => {
        files.set(path, kept);
      },
    });
    await expect(uploadFile(remote, localPath, 'x', {}, 0)).rejects.toMatchObject({
      kind: 'retryable',
      code,
    });
  });

  it('and keeps nothing', async () => {
    const remote = callsTo(new Map(), { upload: async () => {} });
    await expect(uploadFile(remote, localPath, 'x', {}, 0)).rejects.toMatchObject({ code: 'short-upload' });
  });

  it('and allows no reading is trusted if the size is right', async () => {
    const remote = callsTo(new Map(), {
      open: async () => {
        throw statusError(3, 'Permission denied');
      },
    });
    await expect(uploadFile(remote, localPath, 'x', {})).resolves.toBeUndefined();
  });
});

describe('a server that answers reads in small pieces', () => {
  it('gets requests for the rest', async () => {
    const remote = callsTo(new Map(), {
      read: async (_handle, buffer, length, position) =>
        buffer.write('content'.slice(position, position + Math.min(length, 3))),
    });
    await expect(uploadFile(remote, localPath, 'x', {})).resolves.toBeUndefined();
  });
});

describe('a server that fails without a reason', () => {
  const failing = async () => {
    throw statusError(4, 'Failure');
  };

  it('has a short file, as on a full disk', async () => {
    const remote = callsTo(new Map([['x', 'con']]), { upload: failing });
    await expect(uploadFile(remote, localPath, 'x', {}, 0)).rejects.toMatchObject({ code: 'short-upload' });
  });

  it('is not trusted even when the size is right', async () => {
    const remote = callsTo(new Map([['x', 'content']]), { upload: failing });
    await expect(uploadFile(remote, localPath, 'x', {}, 0)).rejects.toMatchObject({ code: 4 });
  });

  it('keeps the old file when it did not cause the failed rename', async () => {
    const files = new Map([['x.tmp', 'content']]);
    const remote = callsTo(files, { rename: failing });
    await expect(publishFile(remote, 'x.tmp', 'x', 7)).rejects.toMatchObject({ code: 4 });
    expect([...files]).toEqual([['x.tmp', 'content']]);
  });
});

describe('a server whose rename does not replace files', () => {
  it('keeps what a successor published while this process was frozen', async () => {
    const files = new Map([['x.tmp', 'content']]);
    const remote = callsTo(files, {
      async rename() {
        // It wakes only now, after its successor has cleaned up and published.
        files.delete('x.tmp');
        files.set('x', 'new one');
        throw statusError(4, 'Failure');
      },
    });
    await expect(publishFile(remote, 'x.tmp', 'x', 7)).rejects.toMatchObject({ code: 'source-missing' });
    expect([...files]).toEqual([['x', 'new one']]);
  });
});

describe('a server that denies the rename', () => {
  it('loses nothing although the target exists', async () => {
    const files = new Map([
      ['x.tmp', 'content'],
      ['x', 'old'],
    ]);
    const remote = callsTo(files, {
      rename: async () => {
        throw statusError(3, 'Permission denied');
      },
    });
    await expect(publishFile(remote, 'x.tmp', 'x', 7)).rejects.toMatchObject({ code: 3 });
    expect(files.get('x')).toBe('old');
  });
});
