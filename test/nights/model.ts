import type { DeliveryKind } from '../../src/ledger/run.js';
import { bookingOf, type Entry, identify, referenceIn } from './journal.js';

/** What is known of one booking of the day; see `identify`. */
export interface KnownBooking {
  /** By results: the newest about its latest delivery, but nothing clears an incorrect one except a newer correct one. */
  readonly verdict: 'correct' | 'incorrect' | 'unknown';
  /** How often it counts: as often as the run with most of it holds it. */
  readonly times: number;
  /** How it was sent the last time. */
  readonly by: DeliveryKind;
  /** A later collect found its reference with another hotel or stay, and not this one. */
  readonly isSuperseded: boolean;
  /** A result called it incorrect at some time, or an e-mail named it. */
  readonly wasNamed: boolean;
  /** An e-mail named it. */
  readonly isNamedByMail: boolean;
}

/** What every surface must say of a day. */
export interface Expected {
  readonly bookings: ReadonlyMap<string, KnownBooking>;
  /** A result is known, and a file was sent. */
  readonly isJudged: boolean;
  readonly hasFile: boolean;
  /** How many records each run found in its source, and how many of them it sent, by its id. */
  readonly runs: ReadonlyMap<string, { readonly read: number; readonly by: DeliveryKind }>;
}

type Known = { -readonly [Member in keyof KnownBooking]: KnownBooking[Member] };
type Of<Kind> = Extract<Entry, { readonly kind: Kind }>;

const unknown: KnownBooking = {
  ...{ verdict: 'unknown', times: 0, by: 'body' },
  ...{ isSuperseded: false, wasNamed: false, isNamedByMail: false },
};

/** The model: what came of the day, from what was sent and what came back alone. */
export function expectDay(journal: readonly Entry[]): Expected {
  const bookings = new Map<string, Known>();
  const sentBy = new Map<string, number>();
  /** Which result judged a booking last, and when it was written. */
  const judgedBy = new Map<string, string>();

  function collect({ source }: Of<'collected'>): void {
    const found = new Set(source.map(bookingOf));
    const references = new Set([...found].flatMap(referenceIn));
    for (const [booking, known] of bookings) {
      const isElsewhere = referenceIn(booking).some((reference) => references.has(reference));
      known.isSuperseded = !found.has(booking) && (isElsewhere || known.isSuperseded);
    }
  }

  function send({ run, by, bookings: sent }: Of<'sent'>): void {
    for (const booking of sent.map(identify)) {
      const times = 1 + (sentBy.get(`${run} ${booking}`) ?? 0);
      sentBy.set(`${run} ${booking}`, times);
      const known = bookings.get(booking) ?? unknown;
      const keeps = times > 1 || known.verdict === 'incorrect';
      const verdict = keeps ? known.verdict : 'unknown';
      bookings.set(booking, {
        ...known,
        verdict,
        by,
        times: Math.max(times, known.times),
        isSuperseded: false,
      });
    }
  }

  function judge({ run, at, rows }: Of<'result'>): void {
    // Servers keep times in seconds.
    const result = `${run} ${Math.floor(at / 1_000)}`;
    for (const { booking, isCorrect } of rows) {
      const known = bookings.get(booking);
      if (!known) continue;
      const isTie = judgedBy.get(booking) === result && known.verdict === 'incorrect';
      known.verdict = isCorrect && !isTie ? 'correct' : 'incorrect';
      known.wasNamed ||= known.verdict === 'incorrect';
      judgedBy.set(booking, result);
    }
  }

  function name({ names }: Of<'mail'>): void {
    for (const booking of names.map(bookingOf)) {
      const known = bookings.get(booking);
      if (known) Object.assign(known, { wasNamed: true, isNamedByMail: true });
    }
  }

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
    }
  const runs = journal.flatMap((one) => (one.kind === 'collected' ? [one] : []));
  return {
    bookings,
    isJudged: journal.some((one) => one.kind === 'result' && one.rows.length > 0),
    hasFile: journal.some((one) => one.kind === 'sent' && one.by === 'file'),
    runs: new Map(runs.map(({ run, source, by }) => [run, { read: source.length, by }])),
  };
}
