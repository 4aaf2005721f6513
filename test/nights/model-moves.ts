import { bookingOf, type Entry, identify, referenceIn } from './journal.js';
import { expectDay } from './model.js';

/** A provider's hotel and the master hotel as which it was booked, such as `Expedia 0011 11`. */
type Pair = string;
type Origin = 'affected' | 'email' | 'suspect' | 'watch';
type Of<Kind> = Extract<Entry, { readonly kind: Kind }>;

/** What must be known of a pair. All times are places in the journal. */
export interface ExpectedCase {
  state: 'open' | 'corrected' | 'dismissed';
  since: number;
  /** To the service, while it is open; epoch milliseconds. */
  reportedAt?: number | undefined;
  readonly origins: Set<Origin>;
  move: 're-pointed' | 'merged' | 'unmapped' | null;
  evidenceAt: number;
  watchedSince: number | undefined;
  correctedBy: number | undefined;
  /** By reference. */
  readonly bookings: Map<string, ExpectedBooking>;
}

interface ExpectedBooking {
  readonly addedAt: number;
  readonly checkOut: string;
  /** Its newest version is at another hotel. */
  readonly isElsewhere: boolean;
  /** By a result or an e-mail. */
  readonly isNamed: boolean;
  /** Somebody has resolved it. */
  readonly isHelped?: boolean;
}

interface Evidence {
  readonly origin: Origin;
  readonly at: number;
  readonly today: string;
  /** The bookings that it is about. */
  readonly names?: readonly string[];
  readonly move?: 're-pointed' | 'unmapped';
}

interface Move {
  readonly hotel: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly at: number;
}

const suspectMs = 7 * 86_400_000;
export const pairOf = (booking: string): Pair => booking.split(' ').slice(1, 4).join(' ');
const hotelOf = (pair: Pair) => pair.split(' ').slice(0, 2).join(' ');
const masterOf = (pair: Pair) => Number(pair.split(' ')[2]);
const checkOutOf = (booking: string) => booking.split(' ').at(-1) ?? '';
const referenceOf = (booking: string) => referenceIn(booking)[0];

/** The model of the copy of the mappings and of all cases, from what the service told and what came back. */
export function expectMoves(journal: readonly Entry[]) {
  /** What each hotel is mapped to, and when it last moved; epoch milliseconds. */
  const copy = new Map<string, { readonly to: number | undefined; readonly movedAt: number | undefined }>();
  const moves: Move[] = [];
  let watchedMoves = 0;
  /** The newest versions of the bookings of each day. */
  const days = new Map<number, Set<string>>();
  const cases = new Map<Pair, ExpectedCase>();
  /** By run, the suspects among its bookings; undefined if there was no copy. */
  const suspects = new Map<string, ReadonlySet<string> | undefined>();
  const named = findNamed(journal);

  function hear({ rows, at: movedAt }: Of<'told'>, at: number): void {
    for (const { hotel, to, left } of rows) {
      const known = copy.get(hotel);
      // Told once more.
      const hasLeft = moves.some((move) => move.hotel === hotel && move.from === left);
      if (to === undefined && left !== undefined && left !== known?.to && hasLeft) continue;
      if (known ? known.to === to : to === undefined) continue;
      if (known) moves.push({ hotel, from: known.to, to, at });
      copy.set(hotel, { to, movedAt: known && movedAt });
    }
  }

  /** The last move corrects what was found before it; a removal does not, if the watch found an earlier move. */
  function correct(since: number): void {
    for (const [pair, held] of cases) {
      const { evidenceAt, watchedSince = Number.POSITIVE_INFINITY } = held;
      const last = moves.findLast(({ hotel, at }) => hotel === hotelOf(pair) && at > evidenceAt);
      if (held.state === 'open' && last && (last.to !== undefined || watchedSince >= last.at))
        Object.assign(held, { state: 'corrected', since, correctedBy: last.at });
    }
  }

  /** Compares what has moved since the last watch with the stays ahead. */
  function watch({ today }: Of<'synced'>, at: number): void {
    const latest = new Map(moves.slice(watchedMoves).map((move) => [move.hotel, move.at]));
    watchedMoves = moves.length;
    if (latest.size === 0) return;
    for (const [pair, held] of cases) {
      const isOnlyMoved = held.move === 're-pointed' && [...held.origins].join() === 'watch';
      if (held.state === 'open' && isOnlyMoved && classify(pair) === 'merged')
        Object.assign(held, { state: 'dismissed', since: at, correctedBy: undefined, move: 'merged' });
    }
    for (const pair of new Set([...days.values()].flatMap((current) => [...current].map(pairOf)))) {
      const movedAt = latest.get(hotelOf(pair));
      const move = movedAt === undefined ? undefined : classify(pair);
      if (movedAt === undefined || move === undefined || move === 'merged') continue;
      if (listStays(pair, today).length === 0) continue;
      apply(pair, { origin: 'watch', at: movedAt, today, move });
    }
  }

  /** What happened to a pair; undefined if it is as it was booked. */
  function classify(pair: Pair) {
    const [master, to] = [masterOf(pair), copy.get(hotelOf(pair))?.to];
    if (to === undefined) return 'unmapped';
    if (to === master) return undefined;
    const left = moves.flatMap(({ hotel, from }) => (from === master ? [hotel] : []));
    const ever = new Set([...left, ...[...copy.keys()].filter((hotel) => copy.get(hotel)?.to === master)]);
    const together = [...ever].filter((hotel) => copy.get(hotel)?.to === to);
    const providers = new Set(together.map((hotel) => hotel.split(' ')[0]));
    return providers.size >= 2 && 2 * together.length > ever.size ? 'merged' : 're-pointed';
  }

  function listStays(pair: Pair, today: string): readonly string[] {
    return [...days.values()].flatMap((current) =>
      [...current].filter((booking) => pairOf(booking) === pair && checkOutOf(booking) >= today),
    );
  }

  function apply(pair: Pair, evidence: Evidence): void {
    const { origin, at, today, names = [], move } = evidence;
    const stays = listStays(pair, today);
    if (!cases.has(pair) && stays.length + names.length === 0) return;
    const held: ExpectedCase = cases.get(pair) ?? {
      ...{ state: 'open', since: at, origins: new Set(), move: null, evidenceAt: at },
      ...{ watchedSince: undefined, correctedBy: undefined, bookings: new Map() },
    };
    cases.set(pair, held);
    const isOpened = held.state !== 'open' && isNews(held, pair, evidence);
    if (isOpened) reopen(held, at);
    if (origin === 'watch') held.watchedSince = isOpened ? at : (held.watchedSince ?? at);
    held.origins.add(origin);
    held.move = move ?? held.move;
    for (const booking of names) join(held, booking, at, stays.includes(booking), origin !== 'suspect');
    if (held.state === 'open') for (const stay of stays) join(held, stay, at);
  }

  function reopen(held: ExpectedCase, at: number): void {
    const nothing = { correctedBy: undefined, reportedAt: undefined };
    Object.assign(held, { state: 'open', since: at, evidenceAt: at, ...nothing });
  }

  function help({ pair, action, reference, at: clock }: Of<'helped'>, at: number): void {
    const held = cases.get(pair);
    const booking = held?.bookings.get(reference);
    if (held && action === 'dismiss' && held.state !== 'dismissed')
      Object.assign(held, { state: 'dismissed', since: at, correctedBy: undefined });
    if (held && action === 'reopen' && (held.state !== 'open' || held.reportedAt !== undefined))
      reopen(held, at);
    if (held && action === 'report') held.reportedAt = clock;
    if (booking && action === 'resolve') held?.bookings.set(reference, { ...booking, isHelped: true });
  }

  function join(
    { bookings }: ExpectedCase,
    booking: string,
    at: number,
    isHere = true,
    isNamed = false,
  ): void {
    const reference = referenceOf(booking);
    if (reference === undefined) return;
    const known = bookings.get(reference) ?? { addedAt: at, isNamed, isElsewhere: !isHere };
    bookings.set(reference, {
      checkOut: checkOutOf(booking),
      ...known,
      ...(isHere && { checkOut: checkOutOf(booking), isElsewhere: false }),
      isNamed: known.isNamed || isNamed,
    });
  }

  /** Whether it opens a closed case again: a verdict on a booking that is not in it, or a later move. */
  function isNews(held: ExpectedCase, pair: Pair, { origin, at, today, names = [] }: Evidence): boolean {
    switch (origin) {
      case 'suspect':
        return false;
      case 'watch':
        return listStays(pair, today).length > 0 && at > (held.correctedBy ?? held.since);
      case 'affected':
      case 'email': {
        const isBooked = copy.get(hotelOf(pair))?.to === masterOf(pair);
        const isNew = (booking: string) =>
          (held.bookings.get(referenceOf(booking) ?? '')?.addedAt ?? at) > held.since;
        return (held.state !== 'corrected' || isBooked) && names.some(isNew);
      }
    }
  }

  function collect(entry: Of<'collected'>, at: number): void {
    const { day, source, topsUp, today } = entry;
    const found = new Set(source.map((guest) => bookingOf(guest, day)));
    const references = new Set([...found].flatMap(referenceIn));
    const current = days.get(day) ?? new Set();
    for (const booking of current) {
      const reference = referenceOf(booking);
      const isReplaced = reference === undefined ? !topsUp : references.has(reference);
      if (isReplaced && !found.has(booking)) current.delete(booking);
    }
    for (const booking of found) current.add(booking);
    days.set(day, current);
    for (const [pair, held] of cases) {
      const here = [...found].filter((booking) => pairOf(booking) === pair);
      leave(held, references, here, today);
      for (const booking of here)
        if (held.state === 'open' && checkOutOf(booking) >= today) join(held, booking, at);
    }
    suspect(entry, at);
  }

  /** A booking whose newest version is elsewhere needs no help here; the stay of one that is still here may have changed. */
  function leave(
    { bookings }: ExpectedCase,
    references: ReadonlySet<string>,
    here: readonly string[],
    today: string,
  ) {
    for (const [reference, booking] of bookings) {
      if (!references.has(reference) || booking.isElsewhere || booking.checkOut < today) continue;
      const version = here.find((one) => referenceOf(one) === reference);
      const checkOut = version === undefined ? booking.checkOut : checkOutOf(version);
      bookings.set(reference, { ...booking, checkOut, isElsewhere: version === undefined });
    }
  }

  function suspect(entry: Of<'collected'>, at: number): void {
    const { run, today, comparedAt } = entry;
    const flagged = new Set<string>();
    for (const booking of listHeld(journal, at)) {
      const pair = pairOf(booking);
      const { to, movedAt = 0 } = copy.get(hotelOf(pair)) ?? {};
      const isOther = to !== undefined && to !== masterOf(pair);
      if (!isOther && comparedAt - movedAt >= suspectMs) continue;
      flagged.add(booking);
      const isDoubtful = (isOther && classify(pair) !== 'merged') || to === undefined;
      if (isDoubtful && checkOutOf(booking) >= today)
        apply(pair, { origin: 'suspect', at, today, names: [booking] });
    }
    suspects.set(run, copy.size === 0 ? undefined : flagged);
  }

  function takeNamed(entry: Of<'result'> | Of<'mail'>, at: number): void {
    const origin = entry.kind === 'mail' ? 'email' : 'affected';
    for (const booking of named.get(entry) ?? [])
      if (!pairOf(booking).includes(' - '))
        apply(pairOf(booking), { origin, at, today: entry.today, names: [booking] });
  }

  function takePair(pair: Pair, { today }: Of<'mail of pairs'>, at: number): void {
    if (!pair.includes('-')) apply(pair, { origin: 'email', at, today });
  }

  for (const [at, entry] of journal.entries())
    switch (entry.kind) {
      case 'collected':
        collect(entry, at);
        break;
      case 'result':
      case 'mail':
        takeNamed(entry, at);
        break;
      case 'mail of pairs':
        for (const guest of entry.names) takePair(pairOf(bookingOf(guest, entry.day)), entry, at);
        break;
      case 'told':
        hear(entry, at);
        if (entry.all) correct(at);
        break;
      case 'helped':
        help(entry, at);
        break;
      case 'synced':
        correct(at);
        if (entry.isWatched) watch(entry, at);
        break;
      default:
        break;
    }
  return { copy, cases, suspects };
}

/** Which bookings each entry names. */
function findNamed(journal: readonly Entry[]): ReadonlyMap<Entry, readonly string[]> {
  const named = new Map<Entry, string[]>();
  for (const day of new Set(journal.map((entry) => entry.day)))
    for (const [booking, { namedBy }] of expectDay(journal, day).bookings)
      for (const entry of namedBy) named.set(entry, [...(named.get(entry) ?? []), booking]);
  return named;
}

/** The bookings that the run collected there holds: one that tops its day up holds what was not sent before, and all of its file. */
function listHeld(journal: readonly Entry[], at: number): ReadonlySet<string> {
  const entry = journal[at] as Of<'collected'>;
  const { run, day, source, topsUp } = entry;
  const sent = journal.flatMap((one, index) =>
    one.kind !== 'sent' || one.day !== day || (index > at && one.run !== run) ? [] : [{ ...one, index }],
  );
  const before = sent.filter(({ index }) => index < at).flatMap(({ bookings }) => bookings.map(identify));
  const own = sent.filter(({ index }) => index > at).flatMap(({ bookings }) => bookings.map(identify));
  const found = source.map((guest) => bookingOf(guest, day));
  return new Set([...own, ...found.filter((booking) => !topsUp || !before.includes(booking))]);
}
