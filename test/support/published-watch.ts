import { createHash } from 'node:crypto';
import { readFileSync, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { remotePath } from './file-day.js';
import type { RunningSftpServer } from './sftp-server.js';

/** What became of the day's file on the server, from moment to moment. */
export interface PublishedWatch {
  /** Waits until what has happened so far was told by the system, and holds it against the only contents allowed. */
  expectOnly(...contents: readonly (string | Buffer)[]): Promise<void>;
}

/**
 * Watches the server's own disk. A file that is written under the day's name shows as a change, however short it was;
 * one that is renamed to it doesn't. And what lies there is read each time it has become another. The folder must be
 * there.
 */
export function watchPublished(server: RunningSftpServer): PublishedWatch {
  const path = server.disk(remotePath);
  const seen = new Map<string, number>();
  let changes = 0;
  let renames = 0;

  let lookedAt = '';
  const look = () => {
    try {
      const { ino, size, mtimeMs } = statSync(path);
      const found = [ino, size, mtimeMs].join();
      if (found === lookedAt) return;
      lookedAt = found;
      const content = readFileSync(path);
      seen.set(digest(content), content.length);
    } catch {
      // It is not there just now.
    }
  };
  const watcher = watch(dirname(path), (event, name) => {
    if (name !== basename(path)) return;
    if (event === 'change') changes += 1;
    else renames += 1;
    look();
  });
  const timer = setInterval(look, 1);
  onTestFinished(() => {
    clearInterval(timer);
    watcher.close();
  });

  return {
    async expectOnly(...contents) {
      await vi.waitUntil(() => renames > 0);
      const allowed = new Map(contents.map((content) => [digest(Buffer.from(content)), content.length]));
      for (const [sha256, bytes] of seen) expect(allowed.get(sha256), `a file of ${bytes} bytes`).toBe(bytes);
      expect(changes).toBe(0);
    },
  };
}

function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
