import { randomUUID } from 'node:crypto';

/** The position of a retrieval. It holds no rows. */
export interface Cursor {
  readonly syncId: string;
  /** The lower bound of changes, in epoch milliseconds. */
  readonly since: number;
  readonly providerFamily: string | undefined;
  /** The place of the next row in the world's history. */
  readonly from: number;
}

type KeyFinding =
  | { readonly kind: 'found'; readonly cursor: Cursor }
  | { readonly kind: 'expired' }
  | { readonly kind: 'unknown' };

/** How long an expired key is still distinguished from an unknown one. */
const rememberedMs = 86_400_000;

/** Keys that continue a retrieval. A key can be reused and always gives the same page. */
export function createResumeKeys(validMs: number, clock: () => number) {
  const cursors = new Map<string, { readonly cursor: Cursor; readonly expiresAt: number }>();

  /** The map is ordered by age. */
  function forgetOld(now: number): void {
    for (const [key, { expiresAt }] of cursors) {
      if (now < expiresAt + rememberedMs) return;
      cursors.delete(key);
    }
  }

  return {
    issue(cursor: Cursor): string {
      const now = clock();
      forgetOld(now);
      const key = randomUUID();
      cursors.set(key, { cursor, expiresAt: now + validMs });
      return key;
    },
    find(key: string): KeyFinding {
      const known = cursors.get(key.toLowerCase());
      if (!known) return { kind: 'unknown' };
      return clock() < known.expiresAt ? { kind: 'found', cursor: known.cursor } : { kind: 'expired' };
    },
  };
}
