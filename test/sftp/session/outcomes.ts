import { expect } from 'vitest';

export const retryable = (code: string) => expect.objectContaining({ kind: 'retryable', code });
export const denied = expect.objectContaining({ kind: 'denied', code: 'permission-denied' });
