import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Lets several steps that are performed at once act one at a time, in an order that depends on nothing but `random`: whoever wants
 * to act outside waits until all others want to, too, or are done.
 */
export function createTurns(random: () => number) {
  const ownNumber = new AsyncLocalStorage<number>();
  const waiting: { readonly number: number; readonly go: () => void }[] = [];
  let [begun, active] = [0, 0];

  function goOn(): void {
    if (waiting.length === 0 || waiting.length < active) return;
    // How they came to wait may depend on the machine.
    waiting.sort((one, other) => one.number - other.number);
    const [next] = waiting.splice(Math.floor(random() * waiting.length), 1);
    next?.go();
  }

  return {
    /** Performs a step that takes turns with others. */
    async perform<Result>(step: () => Promise<Result>): Promise<Result> {
      begun += 1;
      active += 1;
      try {
        return await ownNumber.run(begun, step);
      } finally {
        active -= 1;
        goOn();
      }
    },
    /** Waits until it is one's turn to act. */
    take: () =>
      new Promise<void>((go) => {
        waiting.push({ number: ownNumber.getStore() ?? 0, go });
        goOn();
      }),
  };
}

export type Turns = ReturnType<typeof createTurns>;
