import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '../sftp-server.js';
import type { DeskMonth } from './month.js';

/** The pages of `serve` over a month, in this process and by its clock. */
export interface RunningDesk {
  /** Without a trailing slash. */
  readonly url: string;
  /** Idempotent. */
  close(): Promise<void>;
}

export async function openDesk({ commands }: Pick<DeskMonth, 'commands'>): Promise<RunningDesk> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const stopping = new AbortController();
  let hasEnded = false;
  const ended = commands.run(['serve', '--port', String(port)], { signal: stopping.signal }).finally(() => {
    hasEnded = true;
  });
  const close = async () => {
    stopping.abort();
    await ended;
  };
  while (!hasEnded && !(await isServed(url))) await delay(20);
  // Throws what it failed with.
  if (hasEnded) await ended;
  return { url, close };
}

async function isServed(url: string): Promise<boolean> {
  const response = await fetch(`${url}/healthz`).catch(() => undefined);
  return response?.ok === true;
}
