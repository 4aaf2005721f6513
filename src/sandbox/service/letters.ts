import { nameReason } from '../name-reason.js';
import type { IncorrectMapping, Outbox } from '../outbox.js';
import type { ServiceEvent } from './service-event.js';

/** Writes letters beside the calls that they belong to. */
export interface Letters {
  /** Resolves when the letter is written, or when that failed, which is told as an event. */
  write(number: number, about: string, incorrect: readonly IncorrectMapping[]): Promise<void>;
  /** Resolves when no letter is being written any more. */
  written(): Promise<void>;
}

export function createLetters(outbox: Outbox, onEvent: (event: ServiceEvent) => void): Letters {
  const open = new Set<Promise<void>>();

  async function notify(number: number, about: string, incorrect: readonly IncorrectMapping[]) {
    const told = { number, incorrect: incorrect.length };
    try {
      const letter = await outbox.notify({ about, incorrect });
      onEvent({ kind: 'letter-written', ...told, letter });
    } catch (error) {
      onEvent({ kind: 'letter-failed', ...told, reason: nameReason(error) });
    }
  }

  return {
    write(number, about, incorrect) {
      const writing = notify(number, about, incorrect).finally(() => open.delete(writing));
      open.add(writing);
      return writing;
    },
    async written() {
      await Promise.all(open);
    },
  };
}
