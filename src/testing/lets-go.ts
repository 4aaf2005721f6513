import { equal } from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { PreparedSource } from './source-driver.js';

const patienceMs = 30_000;
const lookAgainMs = 20;

/** Waits until nothing is held open any more; closing takes a moment. */
export async function assertLetsGo(held: PreparedSource['held']): Promise<void> {
  if (held === undefined) return;
  const giveUpAt = Date.now() + patienceMs;
  while ((await held()) !== 0 && Date.now() < giveUpAt) await delay(lookAgainMs);
  equal(await held(), 0, 'what it held open it holds open still');
}
