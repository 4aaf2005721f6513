import { createSeededRandom } from '../../src/sandbox/common/random.js';
import { createEventMaker, type Event, type History } from './history.js';
import { createSightings, kindsOf } from './kinds.js';

/** How many days a history has; most are short, because these find most in a given time. */
const lengths = [1, 1, 1, 1, 2, 2, 2, 3, 3, 5] as const;
const [longest, longOnesAre] = [30, 60];
/** Of a day. */
const mostEvents = 4;
/** What happens on a day that was begun, the more often the more often it stands here. */
const followers = [
  ...(['review', 'review', 'review', 'review', 'look', 'look'] as const),
  ...(['mail', 'accept', 'export', 'erase'] as const),
];
/** Of so many events the one is chosen that brings most pairs of kinds that have not met yet. */
const candidates = 3;

/** Endless histories, always the same for a seed. They steer towards pairs of kinds that have not followed each other yet. */
export function* makeHistories(seed: number): Generator<History> {
  const random = createSeededRandom(seed);
  const make = createEventMaker(random);
  const planned = createSightings();

  /** The best of some. */
  function choose(before: readonly string[], makeOne: () => Event): Event {
    const [first, ...others] = Array.from({ length: candidates }, makeOne);
    const gain = (event: Event) => planned.countNew(before, kindsOf(event));
    return others.reduce((best, one) => (gain(one) > gain(best) ? one : best), first as Event);
  }

  function opening(day: number, hasBoth: boolean): Event {
    if (make.isOneIn(6)) return make.badExport(day, hasBoth);
    return make.review(
      day,
      hasBoth,
      make.pick(['run', 'run', 'run', 'schedule', 'hook', 'early', 'today'] as const),
    );
  }

  function following(day: number, hasBoth: boolean): Event {
    switch (make.pick(followers)) {
      case 'review':
        return make.review(
          day,
          hasBoth,
          make.pick(['run', 'schedule', 'hook', 'top-up', 'top-up', 'replay'] as const),
        );
      case 'look':
        return make.look(day);
      case 'mail':
        return make.mail(day);
      case 'accept':
        return make.accept(day);
      case 'export':
        return make.badExport(day, hasBoth);
      case 'erase':
        return make.erase(day);
    }
  }

  for (;;) {
    const days = make.isOneIn(longOnesAre) ? longest : make.pick(lengths);
    const both = Array.from({ length: days }, () => make.isOneIn(2));
    const history: Event[] = [];
    let before: readonly string[] = [];
    const add = (event: Event) => {
      const kinds = kindsOf(event);
      planned.note(before, kinds);
      if (kinds.length > 0) before = kinds;
      history.push(event);
    };
    for (let day = 0; day < days; day += 1) {
      add(choose(before, () => opening(day, both[day] === true)));
      const more = Math.floor(random() * mostEvents);
      for (let count = 0; count < more; count += 1) {
        const about = make.isOneIn(5) ? Math.max(0, day - 1) : day;
        add(choose(before, () => following(about, both[about] === true)));
      }
    }
    yield history;
  }
}
