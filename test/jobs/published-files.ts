import { createHash } from 'node:crypto';
import { readFileSync, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { remotePath } from '../support/file-day.js';
import { patienceMs } from '../support/patience.js';
import type { RunningSftpServer } from '../support/sftp-server.js';

/** The contents of the day's file on the server over time. */
export interface PublishedWatch {
  /** Waits until the system has reported all events so far, and compares them with the only contents allowed. */
  expectOnly(...contents: readonly (string | Buffer)[]): Promise<void>;
}

/**
 * Watches the server's own disk. A file that is written under the day's name shows as a change, however briefly it
 * exists; one that is renamed to it doesn't. And its content is read whenever the file has changed. The folder must
 * exist.
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
      // The file does not exist at this moment.
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
      await vi.waitUntil(() => renames > 0, { timeout: patienceMs });
      const allowed = new Map(contents.map((content) => [digest(Buffer.from(content)), content.length]));
      for (const [sha256, bytes] of seen) expect(allowed.get(sha256), `a file of ${bytes} bytes`).toBe(bytes);
      expect(changes).toBe(0);
    },
  };
}

function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The interval between two checks, in milliseconds. */
const intervalMs = 1;

/** Watches a file constantly, and records whenever it was not as it should be. */
export interface PublishedFileWatch {
  /** Ends the watch. The file existed, and whenever it did, it was whole. */
  expectAlwaysWhole(): void;
}

/** @param path the final name on the server's disk; the file may not exist yet, or no longer */
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
  const timer = setInterval(look, intervalMs);
  return {
    expectAlwaysWhole() {
      clearInterval(timer);
      look();
      expect(wrong.slice(0, 5)).toEqual([]);
      expect(sightings).toBeGreaterThan(0);
    },
  };
}
