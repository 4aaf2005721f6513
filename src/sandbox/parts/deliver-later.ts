import { rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { nameReason } from '../common/errors.js';
import type { ResultFault } from '../common/faults.js';
import type { SandboxParts } from './parts.js';

interface Delivery {
  /** What is delivered, as it is told: files are named as SFTP clients see them. */
  readonly name: string;
  readonly fault: ResultFault | undefined;
  /** Removed in the end, if they have not been moved away. */
  readonly drafts: readonly string[];
  /** Writes it, and returns what to tell of it. */
  write(): Promise<string>;
  /** Sends an e-mail about it, and returns the name of its file; undefined if there is nothing to say. */
  notify(): Promise<string | undefined>;
}

/**
 * Delivers what a call asked for once the delay is over, as the fault has it, and tells what became of it. What it
 * adds to `pending` never rejects: the sandbox waits for it when it closes.
 */
export function deliverLater(
  delivery: Delivery,
  {
    resultDelayMs,
    signal,
    tell,
    pending,
  }: Pick<SandboxParts, 'resultDelayMs' | 'signal' | 'tell' | 'pending'>,
): void {
  const { name, fault } = delivery;
  const say = (what: string) => tell(`${name}: ${what}`);

  async function deliver(): Promise<void> {
    const lateMs = fault?.kind === 'result-late' ? fault.seconds * 1_000 : 0;
    await wait(resultDelayMs + lateMs, undefined, { signal });
    if (fault?.kind === 'result-missing') return say('never written (fault)');
    const written = await delivery.write();
    const email = await delivery
      .notify()
      .catch((error: unknown) => void say(`no e-mail (${nameReason(error)})`));
    say(email === undefined ? written : `${written}; e-mail: ${email}`);
  }

  const delivered = deliver()
    .catch((error: unknown) => say(signal.aborted ? 'abandoned' : `failed (${nameReason(error)})`))
    .then(() => Promise.all(delivery.drafts.map((draft) => rm(draft, { force: true }))))
    .catch((error: unknown) => say(`a draft is left behind (${nameReason(error)})`))
    .then(() => void pending.delete(delivered));
  pending.add(delivered);
}
