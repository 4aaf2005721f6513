import { expect } from 'vitest';

export const retryable = (code: string) => expect.objectContaining({ kind: 'retryable', code });
export const denied = expect.objectContaining({ kind: 'denied', code: 'permission-denied' });

/** Large enough for the files of these tests. */
export const limit = { bytes: 100_000_000, advice: '' };
