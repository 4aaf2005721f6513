import { setTimeout as wait } from 'node:timers/promises';
import { nameReason } from './errors.js';
import type { ResultFault } from './faults.js';
import type { Tell } from './tell.js';

interface Delivery {
  /** What is delivered, as it is told. */
  readonly name: string;
  readonly delayMs: number;
  readonly fault: ResultFault | undefined;
  readonly signal: AbortSignal;
  readonly tell: Tell;
  /** Writes it, and returns what to tell of it. */
  write(): Promise<string>;
  /** Sends an e-mail about it, and returns the name of its file; undefined if there is nothing to say. */
  notify(): Promise<string | undefined>;
}

/** Delivers what a call asked for once its delay is over, as the fault has it, and tells what became of it. Never rejects. */
export async function deliverLater(delivery: Delivery): Promise<void> {
  const { name, delayMs, fault, signal, tell } = delivery;
  const say = (what: string) => tell(`${name}: ${what}`);
  try {
    await wait(delayMs + (fault?.kind === 'result-late' ? fault.seconds * 1_000 : 0), undefined, { signal });
    if (fault?.kind === 'result-missing') return say('never written (fault)');
    const written = await delivery.write();
    const email = await delivery
      .notify()
      .catch((error: unknown) => void say(`no e-mail (${nameReason(error)})`));
    say(email === undefined ? written : `${written}; e-mail: ${email}`);
  } catch (error) {
    say(signal.aborted ? 'abandoned' : `failed (${nameReason(error)})`);
  }
}
