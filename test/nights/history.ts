import fc from 'fast-check';

/** A booking as its source has it; what is not there is absent. */
export interface Booked {
  readonly ServiceId: string;
  readonly BookingReferenceId?: string;
  readonly BookingClientName?: string;
  readonly ProviderName: string;
  readonly ProviderHotelId?: string;
  readonly CheckInDate: string;
  readonly CheckOutDate: string;
}

const stay = { CheckInDate: '2026-12-01', CheckOutDate: '2026-12-08' };
const expedia = { ServiceId: '11', ProviderName: 'Expedia', ProviderHotelId: '0011' };
const hotelbeds = { ServiceId: '22', ProviderName: 'Hotelbeds', ProviderHotelId: '22B' };
const other = { ServiceId: '33', ProviderName: 'Hotelbeds', ProviderHotelId: '33C' };

/** Everything that anybody may have booked, but for the crowd. */
const singles = {
  ana: { BookingReferenceId: 'R-1', BookingClientName: 'Ana', ...expedia, ...stay },
  /** A second room, equal but for the name. */
  bob: { BookingReferenceId: 'R-1', BookingClientName: 'Bob', ...expedia, ...stay },
  /** A second leg of the same booking. */
  leg: { BookingReferenceId: 'R-1', BookingClientName: 'Ana', ...hotelbeds, ...stay },
  eva: { BookingReferenceId: 'R-2', BookingClientName: 'Eva', ...expedia, ...stay },
  /** One booking that changes its hotel, and one that changes its stay. */
  tom: { BookingReferenceId: 'R-3', BookingClientName: 'Tom', ...hotelbeds, ...stay },
  tomMoved: { BookingReferenceId: 'R-3', BookingClientName: 'Tom', ...other, ...stay },
  zoe: { BookingReferenceId: 'R-4', BookingClientName: 'Zoe', ...expedia, ...stay },
  zoeLater: {
    ...{ BookingReferenceId: 'R-4', BookingClientName: 'Zoe', ...expedia },
    ...{ CheckInDate: '2026-12-02', CheckOutDate: '2026-12-09' },
  },
  gone: {
    ...{ BookingReferenceId: 'R-5', BookingClientName: 'Kim', ...hotelbeds },
    ...{ CheckInDate: '2026-11-10', CheckOutDate: '2026-11-15' },
  },
  /** Bookings that cannot stand in a file. */
  nobody: { BookingClientName: 'Max', ...expedia, ...stay },
  nameless: { BookingReferenceId: 'R-6', ...hotelbeds, ...stay },
} as const satisfies Record<string, Booked>;

export type Guest = keyof typeof singles | `crowd ${number}`;

const allSingles = Object.keys(singles) as Guest[];

/** As many as it takes to make a day's affected bookings implausible, and some more. */
export const crowd = Array.from({ length: 24 }, (_, place): Guest => `crowd ${place}`);

const inCrowd = (guest: Guest): Booked => ({
  ...{ BookingReferenceId: `C-${guest.slice(6)}`, BookingClientName: 'Lou' },
  ...{ ServiceId: '44', ProviderName: 'Bedlink', ProviderHotelId: '44D', ...stay },
});

const ofCrowd = new Map(crowd.map((guest) => [guest, inCrowd(guest)]));

/** What a guest has booked. */
export function findBooked(guest: Guest): Booked {
  const found = guest in singles ? singles[guest as keyof typeof singles] : ofCrowd.get(guest);
  if (!found) throw new RangeError(`expected a guest, got: ${guest}`);
  return found;
}

export const allGuests: readonly Guest[] = [...allSingles, ...crowd];

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

export type Event =
  | {
      readonly kind: 'review';
      readonly how: 'run' | 'top-up' | 'replay';
      readonly by: 'body' | 'file';
      readonly source: readonly Guest[];
      readonly results: readonly ResultFile[];
      /** Another process follows up runs at each look for a result. */
      readonly isFollowed: boolean;
    }
  /** Somebody runs the day once more whenever some of these have come, while a result is awaited. */
  | { readonly kind: 'look'; readonly results: readonly ResultFile[] }
  | { readonly kind: 'mail'; readonly names: readonly Guest[] }
  /** Somebody accepts so many affected bookings, if the latest run has succeeded. */
  | { readonly kind: 'accept' };

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

const someGuests = fc
  .tuple(fc.subarray(allSingles), fc.constantFrom(0, 0, 19, 20, crowd.length))
  .map(([some, ofCrowd]) => [...some, ...crowd.slice(0, ofCrowd)]);

const anyResults: fc.Arbitrary<readonly ResultFile[]> = fc.oneof(
  fc.constant(results.none),
  someGuests.map((wrong) => results.whole(...wrong)),
  someGuests.map((wrong) => results.setAside(...wrong)),
  fc.tuple(someGuests, someGuests).map(([names, wrong]) => results.partial(names, wrong)),
  fc.tuple(someGuests, someGuests).map(([names, wrong]) => results.growing(names, wrong)),
  fc.tuple(someGuests, someGuests).map(([names, wrong]) => results.split(names, wrong)),
  fc
    .tuple(someGuests, someGuests, someGuests)
    .map(([names, first, wrong]) => results.rewritten(names, first, wrong)),
);

/** Versions of one booking: a source has one of them. */
const versions: readonly (readonly [Guest, Guest])[] = [
  ['tom', 'tomMoved'],
  ['zoe', 'zoeLater'],
];

/** Whether a second room that comes alone is a room or another name is for nobody to know. */
function isSecondRoomAlone(guest: Guest, source: readonly Guest[]): boolean {
  return guest === 'bob' && !source.includes('ana');
}

const anySource = fc
  .tuple(
    fc.subarray(allSingles, { minLength: 3, maxLength: 8 }),
    // Each of the crowd takes as long as anybody else.
    fc.oneof({ weight: 7, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.constant(crowd) }),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([some, many, ...keepsFirst]) => {
    const source = [...some, ...many];
    const dropped = versions.flatMap((pair, index) =>
      pair.every((guest) => source.includes(guest)) ? pair[keepsFirst[index] ? 1 : 0] : [],
    );
    const found = source.filter((guest) => !dropped.includes(guest) && !isSecondRoomAlone(guest, source));
    // By file, the model does not know that bookings were posted if no file was sent.
    return found.some((guest) => guest !== 'nobody' && guest !== 'nameless')
      ? found
      : [...found, 'eva' as const];
  });

const anyReview = fc.record({
  kind: fc.constant('review' as const),
  how: fc.constantFrom('run', 'top-up', 'top-up', 'replay'),
  by: fc.constantFrom('file', 'file', 'body'),
  source: anySource,
  results: anyResults,
  isFollowed: fc.boolean(),
});

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: anyReview },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('look' as const), results: anyResults }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('mail' as const),
      names: fc.subarray(allSingles.filter(hasReference), { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'accept' as const }) },
);

function hasReference(guest: Guest): boolean {
  return findBooked(guest).BookingReferenceId !== undefined;
}

/** A day of up to six events, the first of which sends something. */
export const anyHistory: fc.Arbitrary<History> = fc
  .tuple(anyReview, fc.array(anyEvent, { maxLength: 5 }))
  .map(([first, others]) => keepRooms([{ ...first, how: 'run' as const }, ...others]));

/**
 * Each room has a verdict of its own, and the model has one for both: so both are booked all along, or one. (A named history has a
 * room that goes.)
 */
function keepRooms(history: History): History {
  const first = history.find((event) => event.kind === 'review' && event.source.includes('ana'));
  const hasBoth = first?.kind === 'review' && first.source.includes('bob');
  return history.map((event) => {
    if (event.kind !== 'review' || !event.source.includes('ana')) return event;
    const others = event.source.filter((guest) => guest !== 'bob');
    return { ...event, source: hasBoth ? [...others, 'bob'] : others };
  });
}
