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

/** Between two looks, in milliseconds. */
const lookEvery = 1;

/** Looks at a file all the time, and remembers when it was not what it should be. */
export interface PublishedFileWatch {
  /** Ends the watch. The file was there, and whenever it was, it was whole. */
  expectAlwaysWhole(): void;
}

/** @param path of the final name on the server's disk; it may not be there yet, or any more */
export function watchPublishedFile(path: string, whole: Buffer): PublishedFileWatch {
  const wrong: string[] = [];
  let sightings = 0;
  const look = () => {
    let found: Buffer;
    try {
      found = readFileSync(path);
    } catch {
      return;
    }
    sightings += 1;
    if (!found.equals(whole)) wrong.push(`look ${sightings}: ${found.length} bytes of ${whole.length}`);
  };
  const timer = setInterval(look, lookEvery);
  return {
    expectAlwaysWhole() {
      clearInterval(timer);
      look();
      expect(wrong.slice(0, 5)).toEqual([]);
      expect(sightings).toBeGreaterThan(0);
    },
  };
}
