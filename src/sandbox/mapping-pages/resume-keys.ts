import { randomUUID } from 'node:crypto';

/** Where a retrieval stands: of what it is, and which page is next. It holds no rows. */
export interface Cursor {
  readonly syncId: string;
  /** The lower bound of changes, in epoch milliseconds. */
  readonly since: number;
  readonly providerFamily: string | undefined;
  /** The world's, when the first page was asked for. */
  readonly snapshot: number;
  /** Of the next row in the order of changes. */
  readonly from: number;
}

export type KeyFinding =
  | { readonly kind: 'found'; readonly cursor: Cursor }
  | { readonly kind: 'expired' }
  | { readonly kind: 'unknown' };

/** The keys that continue a retrieval. A key may be used again: it always means the same page. */
export interface ResumeKeys {
  issue(cursor: Cursor): string;
  find(key: string): KeyFinding;
}

export interface ResumeKeysOptions {
  readonly validMs: number;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** So long after it expired a key is still told from one that never was. */
const rememberedMs = 86_400_000;

export function createResumeKeys({ validMs, clock }: ResumeKeysOptions): ResumeKeys {
  const cursors = new Map<string, { readonly cursor: Cursor; readonly expiresAt: number }>();

  /** The oldest stand first. */
  function forgetOld(now: number): void {
    for (const [key, { expiresAt }] of cursors) {
      if (now < expiresAt + rememberedMs) return;
      cursors.delete(key);
    }
  }

  return {
    issue(cursor) {
      const now = clock();
      forgetOld(now);
      const key = randomUUID();
      cursors.set(key, { cursor, expiresAt: now + validMs });
      return key;
    },
    find(key) {
      const known = cursors.get(key.toLowerCase());
      if (!known) return { kind: 'unknown' };
      return clock() < known.expiresAt ? { kind: 'found', cursor: known.cursor } : { kind: 'expired' };
    },
  };
}
