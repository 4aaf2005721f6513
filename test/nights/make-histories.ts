import { createSeededRandom } from '../../src/sandbox/common/random.js';
import { type Choices, createChoices } from './choices.js';
import type { EventKind, Plan } from './events/event.js';
import type { Guest } from './guests.js';
import { type Event, type History, kindOf, listEventKinds } from './history.js';
import { createSightings } from './sightings.js';

/** How many days a history has; most are short, because these find most in a given time. */
const lengths = [1, 1, 1, 1, 2, 2, 2, 3, 3, 5] as const;
const [longest, longOnesAre] = [30, 60];
/** Of a day, after the one that begins it. */
const mostFollowers = 4;
/**
 * Of so many events the one is chosen that brings most pairs of kinds that have not met yet. Two events that have followed each other less
 * often than that count most: not everything that is planned comes about.
 */
const [candidates, rarely, rarePair] = [3, 5, 10];

const openings = repeat(({ opening = 0 }) => opening);
const followers = repeat(({ following = 0 }) => following);

/** Each kind of event as often as it weighs. */
function repeat(weigh: (weights: EventKind<Event>['weights']) => number): readonly EventKind<Event>[] {
  return listEventKinds.flatMap((kind) => Array(weigh(kind.weights)).fill(kind));
}

/** Endless histories, always the same for a seed. They steer towards pairs of kinds that have not followed each other yet. */
export function* makeHistories(seed: number): Generator<History> {
  const choices = createChoices(createSeededRandom(seed));
  const planned = createSightings();
  const events = createSightings();

  for (;;) {
    const days = choices.isOneIn(longOnesAre) ? longest : choices.pick(lengths);
    const both = Array.from({ length: days }, () => choices.isOneIn(2));
    const history: Event[] = [];
    let before: readonly string[] = [];
    let last: readonly string[] = [];
    const sources = new Map<number, readonly Guest[]>();
    const add = (day: number, isBegun: boolean) => {
      const plan = { day, isBegun, hasBoth: both[day] === true, source: sources.get(day) ?? [] };
      const event = choose(plan, before, last);
      if (event.kind === 'review') sources.set(day, event.source);
      const kinds = kindOf(event).kindsOf(event);
      planned.note(before, kinds);
      events.note(last, [event.kind]);
      last = [event.kind];
      if (kinds.length > 0) before = kinds;
      history.push(event);
    };
    for (let day = 0; day < days; day += 1) {
      add(day, false);
      const more = choices.below(mostFollowers);
      for (let count = 0; count < more; count += 1) {
        const about = choices.isOneIn(5) ? Math.max(0, day - 1) : day;
        add(about, true);
      }
    }
    yield history;
  }

  /** The best of some. */
  function choose(plan: Plan, before: readonly string[], last: readonly string[]): Event {
    const made = Array.from({ length: candidates }, () => makeOne(plan, choices));
    const gain = (event: Event) =>
      planned.countRare(before, kindOf(event).kindsOf(event)) +
      rarePair * events.countRare(last, [event.kind], rarely);
    return made.reduce((best, one) => (gain(one) > gain(best) ? one : best));
  }
}

function makeOne(plan: Plan, choices: Choices): Event {
  return choices.pick(plan.isBegun ? followers : openings).make(plan, choices);
}
