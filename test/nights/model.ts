import type { DeliveryKind } from '../../src/ledger/run.js';
import { bookingOf, type Entry, identify, onMapping, referenceIn } from './journal.js';

/** What is known of one booking of the day; see `identify`. */
export interface KnownBooking {
  /**
   * By results, the newest one. A result without it makes a correct booking unknown; nothing clears an incorrect one but a newer
   * correct verdict.
   */
  readonly verdict: 'correct' | 'incorrect' | 'unknown';
  /** How often it counts: as often as the run with most of it holds it. */
  readonly times: number;
  /** How it was sent the last time. */
  readonly by: DeliveryKind;
  /** A later collect found its reference with another hotel or stay, and not this one. */
  readonly isSuperseded: boolean;
  /** It was affected at some time, or an e-mail named it. */
  readonly wasNamed: boolean;
  /** An e-mail named it. */
  readonly isNamedByMail: boolean;
}

/** What every surface must say of a day. */
export interface Expected {
  readonly bookings: ReadonlyMap<string, KnownBooking>;
  /** A result is known of a run that sent some of those that count. */
  readonly isJudged: boolean;
  /** Such a run sent a file. */
  readonly hasFile: boolean;
  /** How many of the bookings that a result says something about are affected, if these are implausibly many, and nobody accepted as many. */
  readonly implausible?: { readonly affected: number; readonly judged: number; readonly isAccepted: boolean };
  /** How many records each run found in its source, by its id. */
  readonly runs: ReadonlyMap<string, { readonly read: number }>;
}

type Known = { -readonly [Member in keyof KnownBooking]: KnownBooking[Member] } & {
  /** When the newest incorrect verdict was written, in the server's seconds. */
  incorrectAt: number;
  /** That sent it the last time. */
  lastRun: string;
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
  ...{ isSuperseded: false, wasNamed: false, isNamedByMail: false },
};

/** The model: what came of the day, from what was sent and what came back alone. */
export function expectDay(journal: readonly Entry[]): Expected {
  const bookings = new Map<string, Known>();
  const runs = new Map<string, OfRun>();

  function of(run: string): OfRun {
    const known = runs.get(run) ?? { times: new Map(), results: new Map() };
    runs.set(run, known);
    return known;
  }

  function collect({ source }: Of<'collected'>): void {
    const found = new Set(source.map(bookingOf));
    const references = new Set([...found].flatMap(referenceIn));
    for (const [booking, known] of bookings) {
      const isElsewhere = referenceIn(booking).some((reference) => references.has(reference));
      known.isSuperseded = !found.has(booking) && (isElsewhere || known.isSuperseded);
    }
  }

  function send({ run, by, bookings: sent }: Of<'sent'>): void {
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
  function judge({ run, name: file, second, rows }: Of<'result'>): void {
    for (const [booking, said] of of(run).results) {
      const known = bookings.get(booking);
      const row = rows.find((one) => one.booking === booking);
      said.delete(file);
      if (row) said.set(file, { second, isCorrect: row.isCorrect });
      if (known) judgeBooking(known, [...said.values()]);
    }
  }

  function judgeBooking(known: Known, said: readonly Said[]): void {
    const newest = Math.max(...said.map(({ second }) => second));
    const isCorrect = said.every((one) => one.isCorrect || one.second < newest);
    if (said.length > 0 && !isCorrect) {
      known.verdict = 'incorrect';
      known.incorrectAt = newest;
      known.wasNamed ||= !known.isSuperseded;
    } else if (known.verdict !== 'incorrect') known.verdict = said.length > 0 ? 'correct' : 'unknown';
    else if (said.length > 0 && newest > known.incorrectAt) known.verdict = 'correct';
  }

  function name({ names }: Of<'mail'>): void {
    const named = new Set(names.map(bookingOf).map(onMapping));
    for (const [booking, known] of bookings)
      if (named.has(onMapping(booking))) Object.assign(known, { wasNamed: true, isNamedByMail: true });
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
  const collected = journal.flatMap((one) => (one.kind === 'collected' ? [one] : []));
  return {
    bookings,
    isJudged: [...judged].some((run) => isOfDay({ run })),
    hasFile: journal.some((one) => one.kind === 'sent' && one.by === 'file' && isOfDay(one)),
    ...(found && { implausible: { ...found, isAccepted: found.affected <= accepted } }),
    runs: new Map(collected.map(({ run, source }) => [run, { read: source.length }])),
  };
}
