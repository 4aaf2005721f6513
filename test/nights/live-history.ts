import type { Engine } from '../crash/live.js';
import { type History, kindOf } from './history.js';
import type { Entry } from './journal.js';
import { makeHistories } from './make-histories.js';
import { createSightings } from './sightings.js';
import { judgeDay, judgeWhole } from './surfaces.js';
import { openWorld, type World } from './world.js';

/** A history as it was lived. */
export interface Lived {
  readonly journal: readonly Entry[];
  /** One line for each fault that was found after an event. */
  readonly faults: readonly string[];
  /** For each event, the kinds of things that came about in it. */
  readonly kinds: readonly (readonly string[])[];
}

interface Looks {
  /** Judges after each event; otherwise after the last one of a day, and now and then. */
  readonly isThorough?: boolean;
  readonly look?: (world: World) => Promise<void>;
  /** Of the ledger; SQLite, if absent. */
  readonly engine?: Engine;
}

/** Of the other events of a day. */
const oneJudgedIn = 3;

export function canRestore(history: History): boolean {
  return history.some(({ kind }) => kind === 'restore');
}

/** Lives a history, and judges each event's day after it, and everything at the end. */
export async function liveHistory(
  history: History,
  { isThorough = false, look = async () => {}, engine }: Looks = {},
): Promise<Lived> {
  const world = await openWorld({ ...(engine && { engine }), hasCopies: canRestore(history) });
  const faults: string[] = [];
  const kinds: string[][] = [];
  try {
    for (const [index, event] of history.entries()) {
      const before = world.everything.length;
      const struck = await world.live(event);
      const hasHappened = world.everything.length > before || struck !== undefined;
      kinds.push([
        ...(hasHappened ? kindOf(event).kindsOf(event) : []),
        ...(struck === undefined ? [] : [struck]),
      ]);
      const isLastOfDay = history[index + 1]?.day !== event.day;
      if (!isThorough && !isLastOfDay && index % oneJudgedIn > 0) continue;
      const days = event.kind === 'restore' ? new Set(world.everything.map(({ day }) => day)) : [event.day];
      for (const day of days) {
        const found = await judgeDay(world, day, isLastOfDay);
        faults.push(...found.map((fault) => `event ${index + 1}, day ${day}: ${fault}`));
      }
      await look(world);
    }
    faults.push(...(await judgeWhole(world)).map((fault) => `at the end: ${fault}`));
    faults.push(...(await world.forgetNames()).map((place) => `names are left, long after: ${place}`));
    return { journal: world.everything, faults, kinds };
  } finally {
    await world.close();
  }
}

/** The histories of a seed, from the first one to the last one, one after the other, with the kinds that have come about so far. */
export async function* liveHistories(seed: number, { first = 1, last }: Numbers) {
  const seen = createSightings();
  /** The same for the events themselves. */
  const met = createSightings();
  let number = 0;
  for (const history of makeHistories(seed)) {
    number += 1;
    if (number > last) return;
    if (number < first) continue;
    const { faults, kinds } = await liveHistory(history).catch((cause: unknown) => {
      throw new Error(`npm run nights -- --seed ${seed} --only ${number}: ${cause}`, { cause });
    });
    const events = history.map(({ kind }, index) => ((kinds[index] ?? []).length > 0 ? [kind] : []));
    for (const [index, one] of kinds.entries()) seen.note(kinds[index - 1] ?? [], one);
    for (const [index, one] of events.entries()) met.note(events[index - 1] ?? [], one);
    yield { number, history, faults, seen, met };
  }
}

/** Of histories, counted from 1. */
interface Numbers {
  readonly first?: number;
  readonly last: number;
}
