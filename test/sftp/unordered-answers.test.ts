import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { downloadFile } from '../../src/transports/sftp/download.js';
import type { RemoteCalls } from '../../src/transports/sftp/remote-calls.js';
import { limit } from './session/outcomes.js';

const folder = mkdtempSync(join(tmpdir(), 'unordered-'));
afterAll(() => rmSync(folder, { recursive: true }));

const content = randomBytes(1_000_000);
const heldBack = 300_000;

/** A server that answers the request for a certain byte last. */
function callsTo(answerLast: () => Promise<void>): RemoteCalls {
  let others = 0;
  const unused = () => Promise.reject(new TypeError('expected another call'));
  return {
    free: async () => undefined,
    stat: async () => ({ kind: 'file', size: content.length, mtime: 1, mode: undefined }),
    open: async () => Buffer.from('x'),
    close: async () => {},
    async read(_handle, buffer, length, position) {
      if (position <= heldBack && heldBack < position + length) {
        // By then all others have been answered, and written as far as possible.
        for (let turns = 0; turns < 100; turns += 1) await nextTurn();
        await answerLast();
      } else {
        others += 1;
        for (let turns = 0; turns < (others * 7) % 11; turns += 1) await Promise.resolve();
      }
      return content.copy(buffer, 0, position, position + length);
    },
    list: unused,
    isListable: unused,
    create: unused,
    write: unused,
    makeFolder: unused,
    unlink: unused,
    rename: unused,
    renameReplacing: unused,
    upload: unused,
  };
}

it('a download is complete whatever the order of the answers', async () => {
  const to = join(folder, 'whole');
  await downloadFile(
    callsTo(async () => {}),
    'x',
    to,
    { limit, resumes: true },
  );
  expect(readFileSync(to).equals(content)).toBe(true);
});

it('an interrupted download keeps nothing from after a missing piece', async () => {
  const to = join(folder, 'cut');
  const lost = new Error('the connection was lost');
  const download = downloadFile(
    callsTo(() => Promise.reject(lost)),
    'x',
    to,
    { limit, resumes: true },
  );
  await expect(download).rejects.toBe(lost);
  const [part = ''] = readdirSync(folder).filter((name) => name.startsWith('cut.'));
  expect(statSync(join(folder, part)).size).toBeLessThanOrEqual(heldBack);

  await downloadFile(
    callsTo(async () => {}),
    'x',
    to,
    { limit, resumes: true },
  );
  expect(readFileSync(to).equals(content)).toBe(true);
});
