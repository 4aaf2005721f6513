import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

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
