import type { BuiltCommands } from '../built-commands.js';

interface ListedCase {
  readonly id: number;
  readonly state: string;
}

interface CaseWithBookings {
  readonly bookingList: readonly { readonly reference: string | null; readonly state: string }[];
}

const people = ['Bea', 'Carlos', 'Dita'] as const;

/** What the booking team does in a morning: one action on one case; every possible action takes its turn. */
export function createCaseWork(commands: BuiltCommands): () => Promise<void> {
  let mornings = 0;
  return async () => {
    const turn = mornings;
    mornings += 1;
    const { cases } = await commands.ask<{ cases: readonly ListedCase[] }>(['cases']);
    const active = cases.filter(({ state }) => state === 'open' || state === 'reported');
    // Never the first of the list: that is left for those who look at the month.
    const { id } = active[1 + (turn % 5)] ?? {};
    if (id === undefined) return;
    const who = people[turn % people.length] ?? people[0];
    const act = (...words: readonly string[]) =>
      commands.run(['case', String(id), ...words], { user: who.toLowerCase() });
    switch (turn % 5) {
      case 0:
        return act('assign', who);
      case 1:
        return act('report', '--note', `reported to the service, ticket ${4_700 + turn}`);
      case 2: {
        const { bookingList } = await commands.ask<CaseWithBookings>(['case', String(id)]);
        const { reference } = bookingList.find(({ state }) => state === 'open') ?? {};
        if (reference)
          await act('resolve', reference, '--as', 'rebooked', '--note', 'moved to the right hotel');
        return;
      }
      case 3:
        return act('--note', 'the provider was asked which hotel it is');
      default:
        return act('dismiss', '--note', 'one house under two names');
    }
  };
}
