import { keyOfHotel, type ProviderHotel } from '../mappings/mapping-copy.js';
import type { History, JudgedLines, SuspectLines, SuspectReader } from '../review/history.js';
import type { BatchReader, RunLister, UndeliveredReader } from '../review/ledger.js';
import type { Run } from '../review/run.js';
import type { BookingForm } from '../review/step.js';
import { findHotel, readBooking, readProviderHotel } from '../review/stored/stored-line.js';
import { readStoredBatches, splitStoredLines } from '../review/stored-batches.js';
import {
  type BookingVerdict,
  type Judged,
  judgeBooking,
  type Silence,
  unansweredReasons,
} from '../review/verdict.js';
import { summariseVerdicts } from '../review/verdicts/day-verdicts.js';
import type { MailReader, ReceivedPair } from '../verdict-mails/mail-log.js';
import { isNamedByMapping } from '../verdict-mails/naming.js';

export type OutcomeLedger = BatchReader &
  RunLister &
  UndeliveredReader &
  SuspectReader &
  Pick<History, 'nextJudged'> & {
    readonly verdictMails: Pick<MailReader, 'listNamedPlaces' | 'listNamedPairs'>;
  };

/** A booking that was sent, and what came of it. */
export interface Outcome extends Partial<ProviderHotel> {
  /** Without what e-mails say: they name incorrect bookings only. */
  readonly verdict: BookingVerdict;
  /** An e-mail names it, or its mapping. */
  readonly isNamedByEmail: boolean;
  /** The local copy of the mappings contradicted it before it was sent. */
  readonly isSuspect: boolean;
}

const runsOfDay = 1_000;
/** Provider hotels whose name and id are at hand: a day repeats them. */
const pairsAtHand = 100_000;

/** What says more about the bookings than the runs do. */
export interface OutcomeSources {
  /** The pairs that e-mails name, by provider hotel. */
  readonly namedPairs: NamedPairs;
  /** Undefined where silence means nothing. */
  readonly silence?: Silence | undefined;
}

/** The bookings of a day that were delivered, each once, one stored batch at a time. */
export async function* readOutcomes(
  ledger: OutcomeLedger,
  day: string,
  sources: OutcomeSources,
): AsyncGenerator<readonly Outcome[], void, undefined> {
  const { runs } = summariseVerdicts(day, await ledger.listRuns({ day, limit: runsOfDay }));
  // The file of a run that tops up covers the whole day, and repeats those before it.
  const fileRun = runs.find(({ file }) => file?.verdicts) ?? runs.find(wasTriggered);
  for (const run of runs) {
    if (run.collectedAt === undefined) continue;
    yield* readForm(ledger, run, 'body', sources);
    if (run === fileRun) yield* readForm(ledger, run, 'file', sources);
  }
}

function wasTriggered({ file }: Run): boolean {
  return file?.triggeredAt !== undefined;
}

async function* readForm(
  ledger: OutcomeLedger,
  run: Run,
  form: BookingForm,
  { namedPairs, silence }: OutcomeSources,
): AsyncGenerator<readonly Outcome[], void, undefined> {
  const undelivered = form === 'body' ? await ledger.listUndelivered(run.id) : [];
  const judgements = createJudgements(ledger, run, form);
  const suspects = createSuspects(ledger, run, form);
  const findPair = createPairReader(form);
  const named = await readNamed(ledger, run, form);
  // A batch was delivered before its run ended.
  const attempts = run.finishedAt === undefined ? [] : [{ outcome: 'done', endedAt: run.finishedAt }];
  for await (const { batch, lines } of readStoredBatches(ledger, run, form)) {
    const judged = await judgements(batch);
    const suspect = await suspects(batch);
    const left = undelivered.filter((slice) => slice.batch === batch);
    yield splitStoredLines(lines).flatMap((line, place) => {
      if (left.some(({ first, bookings }) => place >= first && place < first + bookings)) return [];
      const delivered = { run, form, step: { state: 'done' }, judged: judged.get(place), attempts } as const;
      const pair = findPair(line);
      const isNamedByEmail = named.has(keyOfPlace(batch, place)) || isPairNamed(pair, line);
      const verdict = judgeBooking(delivered, silence);
      return [{ ...pair, verdict, isNamedByEmail, isSuspect: suspect.has(place) }];
    });
  }

  /** Few hotels are named: only their lines are parsed. */
  function isPairNamed({ providerName, providerHotelId }: Partial<ProviderHotel>, line: string): boolean {
    if (namedPairs.size === 0 || providerName === undefined || providerHotelId === undefined) return false;
    const pairs = namedPairs.get(keyOfHotel({ providerName, providerHotelId }));
    if (!pairs) return false;
    const { serviceId, checkInDate: checkIn } = readBooking(line, form);
    return pairs.some(
      (pair) =>
        pair.serviceId === serviceId &&
        isNamedByMapping(pair.receivedAt, { sentAfter: run.startedAt, checkIn }),
    );
  }
}

type NamedPairs = ReadonlyMap<string, readonly ReceivedPair[]>;

export async function readNamedPairs({ verdictMails }: OutcomeLedger): Promise<NamedPairs> {
  const pairs = new Map<string, ReceivedPair[]>();
  for (const pair of await verdictMails.listNamedPairs()) {
    const key = keyOfHotel(pair);
    const known = pairs.get(key);
    if (known) known.push(pair);
    else pairs.set(key, [pair]);
  }
  return pairs;
}

async function readNamed(
  { verdictMails }: OutcomeLedger,
  { id }: Run,
  form: BookingForm,
): Promise<ReadonlySet<number>> {
  const places = await verdictMails.listNamedPlaces(id);
  return new Set(
    places.filter((named) => named.form === form).map(({ batch, place }) => keyOfPlace(batch, place)),
  );
}

/** No batch has a million bookings. */
const keyOfPlace = (batch: number, place: number) => batch * 1_000_000 + place;

/** What the result says about the bookings of each batch, asked in the order of the batches: one page of each kind is held. */
function createJudgements(ledger: OutcomeLedger, { id }: Run, form: BookingForm) {
  const kinds: readonly Judged[] = form === 'file' ? ['incorrect', ...unansweredReasons] : [];
  const pages = new Map<Judged, JudgedLines | undefined>();
  return async (batch: number): Promise<ReadonlyMap<number, Judged>> => {
    const judged = new Map<number, Judged>();
    for (const kind of kinds) {
      let page = pages.has(kind) ? pages.get(kind) : await ledger.nextJudged(id, kind);
      while (page && page.batch < batch) page = await ledger.nextJudged(id, kind, page.batch);
      pages.set(kind, page);
      if (page?.batch === batch) for (const place of page.places) judged.set(place, kind);
    }
    return judged;
  };
}

/** The places of each batch's suspects, asked in the order of the batches. A filled-in booking is none. */
function createSuspects(ledger: OutcomeLedger, { id }: Run, form: BookingForm) {
  let page: SuspectLines | undefined;
  let isAtEnd = false;
  return async (batch: number): Promise<ReadonlySet<number>> => {
    while (!isAtEnd && (!page || page.form !== form || page.cursor.batch < batch)) {
      const cursor = page?.cursor ?? { form, batch: -1 };
      page = await ledger.nextSuspects(id, cursor);
      isAtEnd = page === undefined || page.form !== form;
    }
    if (isAtEnd || page?.cursor.batch !== batch) return new Set();
    const doubted = page.suspects.filter(({ reason }) => reason !== 'filled-in');
    return new Set(doubted.map(({ place }) => place));
  };
}

/** Reads the provider's hotel of a line; most lines are never parsed. */
function createPairReader(form: BookingForm): (line: string) => Partial<ProviderHotel> {
  const pairs = new Map<string, ProviderHotel>();
  return (line) => {
    const hotel = findHotel(line, form);
    if (!hotel) {
      const { providerName, providerHotelId } = readBooking(line, form);
      return {
        ...(providerName !== undefined && { providerName }),
        ...(providerHotelId !== undefined && { providerHotelId }),
      };
    }
    const known = pairs.get(hotel.key);
    if (known) return known;
    // Copied, because a slice would keep the whole batch in memory.
    const key = Buffer.from(hotel.key).toString();
    const pair = readProviderHotel(key, form);
    if (pairs.size === pairsAtHand) pairs.clear();
    pairs.set(key, pair);
    return pair;
  };
}
