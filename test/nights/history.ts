import { createPick } from '../../src/sandbox/common/random.js';
import { allGuests, allSingles, crowd, type Guest, hasReference } from './guests.js';

/** What the service writes as a result, so long after its call. */
export interface ResultFile {
  readonly afterMs: number;
  /** Between the day and `_Result.csv`. */
  readonly part?: string;
  /** Those whose rows it has; all that are in the file if absent. */
  readonly names?: readonly Guest[];
  readonly wrong: readonly Guest[];
  /** It is about another file. */
  readonly isForeign?: boolean;
}

/** What goes wrong at the n-th point of what a process does to the outside, counted from 1: it dies before or after that, or that fails. */
export interface Trouble {
  readonly at: number;
  readonly kind: 'dies-before' | 'dies-after' | 'fails';
}

/** How a day's review comes about. `early` is a run while the day is not over. */
export type How = 'run' | 'schedule' | 'hook' | 'early' | 'today' | 'top-up' | 'replay';

export type Event = {
  /** The number of the business day that it is about. */
  readonly day: number;
} & (
  | {
      readonly kind: 'review';
      readonly how: How;
      readonly by: 'body' | 'file';
      readonly source: readonly Guest[];
      readonly results: readonly ResultFile[];
      /** Another process follows up runs at each look for a result. */
      readonly isFollowed: boolean;
      readonly trouble?: Trouble | undefined;
    }
  /** The day is reviewed while its export is not there, is cut off, or is that of the day before. */
  | {
      readonly kind: 'bad-export';
      readonly form: 'absent' | 'cut' | 'repeated';
      readonly how: 'run' | 'replay';
      readonly source: readonly Guest[];
    }
  /** Somebody runs the day once more whenever some of these have come, while a result is awaited. */
  | {
      readonly kind: 'look';
      readonly results: readonly ResultFile[];
      readonly trouble?: Trouble | undefined;
    }
  | {
      readonly kind: 'mail';
      readonly names: readonly Guest[];
      readonly form: 'named' | 'twice' | 'unreadable';
    }
  /** Somebody accepts so many affected bookings, if the latest run has succeeded. */
  | { readonly kind: 'accept' }
  /** A guest asks to be forgotten. */
  | { readonly kind: 'erase'; readonly guest: Guest; readonly trouble?: Trouble | undefined }
);

export type History = readonly Event[];

const [atOnce, later] = [1_000, 3 * 3_600_000];

/** The forms of a result. Those that come in parts leave time for a look between two of them. */
export const results = {
  none: [],
  whole: (...wrong: Guest[]): ResultFile[] => [{ afterMs: atOnce, wrong }],
  partial: (names: readonly Guest[], wrong: readonly Guest[] = []): ResultFile[] => [
    { afterMs: atOnce, names, wrong },
  ],
  growing: (names: readonly Guest[], wrong: readonly Guest[]): ResultFile[] => [
    { afterMs: atOnce, names, wrong },
    { afterMs: later, wrong },
  ],
  /** What was said first about a part is withdrawn. */
  rewritten: (names: readonly Guest[], first: readonly Guest[], wrong: readonly Guest[]): ResultFile[] => [
    { afterMs: atOnce, names, wrong: first },
    { afterMs: later, wrong },
  ],
  split: (names: readonly Guest[], wrong: readonly Guest[]): ResultFile[] => [
    { afterMs: atOnce, part: '_1', names, wrong },
    { afterMs: atOnce, part: '_2', names: allGuests.filter((guest) => !names.includes(guest)), wrong },
  ],
  setAside: (...wrong: Guest[]): ResultFile[] => [
    { afterMs: atOnce, part: '_1', wrong: [], isForeign: true },
    { afterMs: later, part: '_2', wrong },
  ],
} as const;

/** Makes random events of one day. */
export function createEventMaker(random: () => number) {
  const pick = createPick(random);
  const isOneIn = (number: number) => random() * number < 1;
  const some = <Item>(items: readonly Item[], most = items.length): Item[] => {
    const share = random();
    return items.filter(() => random() < share).slice(0, most);
  };
  const someGuests = (): Guest[] => [
    ...some(allSingles),
    ...crowd.slice(0, pick([0, 0, 19, 20, crowd.length])),
  ];

  function someResults(): readonly ResultFile[] {
    switch (pick(['none', 'whole', 'set-aside', 'partial', 'growing', 'split', 'rewritten'] as const)) {
      case 'none':
        return results.none;
      case 'whole':
        return results.whole(...someGuests());
      case 'set-aside':
        return results.setAside(...someGuests());
      case 'partial':
        return results.partial(someGuests(), someGuests());
      case 'growing':
        return results.growing(someGuests(), someGuests());
      case 'split':
        return results.split(someGuests(), someGuests());
      case 'rewritten':
        return results.rewritten(someGuests(), someGuests(), someGuests());
    }
  }

  /** @param hasBoth whether both rooms of a booking are booked on that day: see `singles` */
  function someSource(hasBoth: boolean): readonly Guest[] {
    const chosen = new Set<Guest>(some(allSingles, 8));
    // Each of the crowd takes as long as anybody else.
    if (isOneIn(8)) for (const guest of crowd) chosen.add(guest);
    for (const pair of versions) if (pair.every((guest) => chosen.has(guest))) chosen.delete(pick(pair));
    // Each room has a verdict of its own, and the model has one for both: so both are booked all along, or one.
    chosen.delete('bob');
    if (hasBoth && chosen.has('ana')) chosen.add('bob');
    if (chosen.size === 0) chosen.add('eva');
    return allGuests.filter((guest) => chosen.has(guest));
  }

  const someTrouble = (): Trouble | undefined =>
    isOneIn(3)
      ? { at: 1 + Math.floor(60 * random() ** 2), kind: pick(['dies-before', 'dies-after', 'fails']) }
      : undefined;

  return {
    isOneIn,
    pick,
    review: (day: number, hasBoth: boolean, how: How): Event => ({
      ...{ kind: 'review', day, how, by: pick(['file', 'file', 'body']) },
      ...{ source: someSource(hasBoth), results: someResults(), isFollowed: isOneIn(2) },
      trouble: someTrouble(),
    }),
    badExport: (day: number, hasBoth: boolean): Event => ({
      ...{ kind: 'bad-export', day, form: pick(['absent', 'cut', 'repeated']) },
      ...{ how: pick(['run', 'replay']), source: someSource(hasBoth) },
    }),
    look: (day: number): Event => ({ kind: 'look', day, results: someResults(), trouble: someTrouble() }),
    mail: (day: number): Event => ({
      ...{ kind: 'mail', day, form: pick(['named', 'named', 'twice', 'unreadable']) },
      names: [pick(allSingles.filter(hasReference)), ...some(allSingles.filter(hasReference), 1)],
    }),
    accept: (day: number): Event => ({ kind: 'accept', day }),
    erase: (day: number): Event => ({ kind: 'erase', day, guest: pick(erasable), trouble: someTrouble() }),
  };
}

/** Two rooms with one reference could not be told apart without their names. */
const erasable: readonly Guest[] = ['eva', 'tom', 'zoe', 'gone', 'crowd 3'];

/** Versions of one booking: a source has one of them. */
const versions: readonly (readonly [Guest, Guest])[] = [
  ['tom', 'tomMoved'],
  ['zoe', 'zoeLater'],
];
