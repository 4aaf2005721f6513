import type { DeliveryKind } from '../../src/rules/run.js';
import { bookingOf, type Entry, hotelOf, identify, onMapping, referenceIn } from './journal.js';

/** What is known of one booking of the day; see `identify`. */
export interface KnownBooking {
  /**
   * By results, the newest one. A result without it makes a correct booking unknown; nothing clears an incorrect one but a newer
   * correct verdict.
   */
  readonly verdict: 'correct' | 'incorrect' | 'unknown';
  /** How often it counts: as often as the run with most of it holds it. */
  readonly times: number;
  /** How it was sent the last time, and by which run. */
  readonly by: DeliveryKind;
  readonly lastRun: string;
  /** A later collect found its reference with another hotel or stay, and not this one. */
  readonly isSuperseded: boolean;
  /** The results and e-mails that called it incorrect before its guest had left. */
  readonly namedBy: readonly Entry[];
  /** An e-mail named it, or its mapping. */
  readonly isNamedByMail: boolean;
}

/** What every surface must say of a day. */
export interface Expected {
  readonly bookings: ReadonlyMap<string, KnownBooking>;
  /** A result is known of a run that sent some of those that count. */
  readonly isJudged: boolean;
  /** Such a run went by file, and one sent a file: nothing may have been fit for it. */
  readonly isByFile: boolean;
  readonly hasFile: boolean;
  /** How many of the bookings that a result says something about are affected, if these are implausibly many, and nobody accepted as many. */
  readonly implausible?: { readonly affected: number; readonly judged: number; readonly isAccepted: boolean };
  /** The newest run was collected before the day was over: the night's is still to come. */
  readonly isEarly: boolean;
  /** How many records each run found in its source, by its id; undefined if it could not be collected. */
  readonly runs: ReadonlyMap<string, { readonly read: number } | undefined>;
}

type Known = { -readonly [Member in keyof KnownBooking]: KnownBooking[Member] } & {
  /** When the newest incorrect verdict was written, in the server's seconds. */
  incorrectAt: number;
};
type Of<Kind> = Extract<Entry, { readonly kind: Kind }>;

/** What a result file says of a booking. */
interface Said {
  readonly second: number;
  readonly isCorrect: boolean;
}

interface OfRun {
  /** How often it holds each booking. */
  readonly times: Map<string, number>;
  /** What the files of its result say of each booking of its file, by their names. */
  readonly results: Map<string, Map<string, Said>>;
}

const unknown: Known = {
  ...{ incorrectAt: 0, lastRun: '' },
  ...{ verdict: 'unknown', times: 0, by: 'body' },
  ...{ isSuperseded: false, namedBy: [], isNamedByMail: false },
};

/** The model: what came of the day of that number, from what was sent and what came back alone. */
export function expectDay(everything: readonly Entry[], day: number): Expected {
  const journal = everything.filter((entry) => entry.day === day || entry.kind === 'mail of pairs');
  const bookings = new Map<string, Known>();
  const runs = new Map<string, OfRun>();

  function of(run: string): OfRun {
    const known = runs.get(run) ?? { times: new Map(), results: new Map() };
    runs.set(run, known);
    return known;
  }

  function collect({ source }: Of<'collected'>): void {
    const found = new Set(source.map((guest) => bookingOf(guest, day)));
    const references = new Set([...found].flatMap(referenceIn));
    for (const [booking, known] of bookings) {
      const isElsewhere = referenceIn(booking).some((reference) => references.has(reference));
      known.isSuperseded = !found.has(booking) && (isElsewhere || known.isSuperseded);
    }
  }

  function send({ run, by, bookings: sent, isRepeated }: Of<'sent'>): void {
    if (isRepeated) return;
    const { times, results } = of(run);
    for (const booking of sent.map(identify)) {
      const now = 1 + (times.get(booking) ?? 0);
      times.set(booking, now);
      const known = bookings.get(booking) ?? unknown;
      bookings.set(booking, { ...known, by, lastRun: run, times: Math.max(now, known.times) });
      if (by === 'file') results.set(booking, new Map());
    }
  }

  /** What a file says takes the place of what it said before. */
  function judge(entry: Of<'result'>): void {
    const { run, name: file, second, rows, isForeign } = entry;
    for (const [booking, said] of of(run).results) {
      // One of others says nothing, unless it takes the place of ours.
      if (isForeign && !said.has(file)) continue;
      const known = bookings.get(booking);
      const row = rows.find((one) => one.booking === booking);
      said.delete(file);
      if (row) said.set(file, { second, isCorrect: row.isCorrect });
      if (known) judgeBooking(known, [...said.values()], isAhead(booking, entry.today) ? entry : undefined);
    }
  }

  /** @param by what names it, if its stay is ahead */
  function judgeBooking(known: Known, said: readonly Said[], by: Entry | undefined): void {
    const newest = Math.max(...said.map(({ second }) => second));
    const isCorrect = said.every((one) => one.isCorrect || one.second < newest);
    if (said.length > 0 && !isCorrect) {
      known.verdict = 'incorrect';
      known.incorrectAt = newest;
      if (by && !known.isSuperseded) known.namedBy = [...known.namedBy, by];
    } else if (known.verdict !== 'incorrect') known.verdict = said.length > 0 ? 'correct' : 'unknown';
    else if (said.length > 0 && newest > known.incorrectAt) known.verdict = 'correct';
  }

  function name(entry: Of<'mail'>): void {
    const { names, today } = entry;
    const named = new Set(names.map((guest) => onMapping(bookingOf(guest, day))));
    for (const [booking, known] of bookings)
      if (named.has(onMapping(booking))) {
        known.isNamedByMail = true;
        if (isAhead(booking, today)) known.namedBy = [...known.namedBy, entry];
      }
  }

  /** It is about every booking on that mapping that was sent before, until its guest has arrived. */
  function nameHotels({ names, at, day: other }: Of<'mail of pairs'>): void {
    const named = new Set(names.map((guest) => hotelOf(bookingOf(guest, other))));
    for (const [booking, known] of bookings)
      known.isNamedByMail ||= named.has(hotelOf(booking)) && at < findCheckIn(booking) + 1.5 * dayMs;
  }

  /** How often bookings count that results call so. */
  function countWhere(is: (verdict: KnownBooking['verdict']) => boolean): number {
    return [...bookings.values()]
      .filter(({ isSuperseded, verdict }) => !isSuperseded && is(verdict))
      .reduce((sum, { times }) => sum + times, 0);
  }

  function judgeAffected() {
    const [affected, judged] = [
      countWhere((verdict) => verdict === 'incorrect'),
      countWhere((verdict) => verdict !== 'unknown'),
    ];
    return affected >= 20 && affected > judged / 20 ? { affected, judged } : undefined;
  }

  let accepted = 0;
  for (const entry of journal)
    switch (entry.kind) {
      case 'collected':
        collect(entry);
        break;
      case 'sent':
        send(entry);
        break;
      case 'result':
        judge(entry);
        break;
      case 'mail':
        name(entry);
        break;
      case 'mail of pairs':
        nameHotels(entry);
        break;
      case 'uncollected':
      case 'erased':
      case 'purged':
      case 'channel':
      case 'export':
      case 'told':
      case 'synced':
      case 'helped':
      case 'restored':
      case 'warned':
      case 'replayed':
        break;
      case 'accepted':
        accepted = judgeAffected()?.affected ?? accepted;
        break;
    }
  const counting = [...bookings].filter(([, { isSuperseded }]) => !isSuperseded);
  const judged = new Set(
    journal.flatMap((one) => (one.kind === 'result' && !one.isForeign ? [one.run] : [])),
  );
  /** Whether an entry is about a run that sent what counts last, or whose result says something about it. */
  const isOfDay = ({ run }: { readonly run: string }) =>
    counting.some(
      ([booking, { lastRun }]) => lastRun === run || (judged.has(run) && of(run).results.has(booking)),
    );
  const found = judgeAffected();
  return {
    bookings,
    isJudged: [...judged].some((run) => isOfDay({ run })),
    isByFile: journal.some((one) => one.kind === 'collected' && one.by === 'file' && isOfDay(one)),
    hasFile: journal.some((one) => one.kind === 'sent' && one.by === 'file' && isOfDay(one)),
    ...(found && { implausible: { ...found, isAccepted: found.affected <= accepted } }),
    isEarly: journal.findLast((one) => one.kind === 'collected')?.isEarly ?? false,
    runs: listRuns(journal),
  };
}

function listRuns(journal: readonly Entry[]): Expected['runs'] {
  const runs = new Map<string, { readonly read: number } | undefined>();
  for (const one of journal) {
    if (one.kind === 'uncollected') runs.set(one.run, undefined);
    if (one.kind === 'collected') runs.set(one.run, { read: one.source.length });
  }
  return runs;
}

const dayMs = 86_400_000;

function findCheckIn(booking: string): number {
  return Date.parse(booking.split(' ').at(-2) ?? '');
}

/** Whether its guest has not left by that date. */
export function isAhead(booking: string, today: string): boolean {
  const [checkOut = ''] = booking.split(' ').slice(-1);
  return checkOut >= today;
}
