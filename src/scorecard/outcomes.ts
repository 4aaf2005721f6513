import type { ProviderHotel } from '../mappings/mapping-copy.js';
import type { History, JudgedLines, SuspectLines, SuspectReader } from '../review/history.js';
import type { BatchReader, RunLister, UndeliveredReader } from '../review/ledger.js';
import type { Run } from '../review/run.js';
import type { BookingForm } from '../review/step.js';
import { findHotel, readBooking, readProviderHotel } from '../review/stored/stored-line.js';
import { readStoredBatches, splitStoredLines } from '../review/stored-batches.js';
import { type BookingVerdict, type Judged, judgeBooking, unansweredReasons } from '../review/verdict.js';
import { summariseVerdicts } from '../review/verdicts/day-verdicts.js';

export type OutcomeLedger = BatchReader &
  RunLister &
  UndeliveredReader &
  SuspectReader &
  Pick<History, 'nextJudged'>;

/** A booking that was sent, and what came of it. */
export interface Outcome extends Partial<ProviderHotel> {
  readonly verdict: BookingVerdict;
  /** The local copy of the mappings contradicted it before it was sent. */
  readonly isSuspect: boolean;
}

const runsOfDay = 1_000;
/** Provider hotels whose name and id are at hand: a day repeats them. */
const pairsAtHand = 100_000;

/** The bookings of a day that were delivered, each once, one stored batch at a time. */
export async function* readOutcomes(
  ledger: OutcomeLedger,
  day: string,
): AsyncGenerator<readonly Outcome[], void, undefined> {
  const { runs } = summariseVerdicts(day, await ledger.listRuns({ day, limit: runsOfDay }));
  // The file of a run that tops up covers the whole day, and repeats those before it.
  const fileRun = runs.find(({ file }) => file?.verdicts) ?? runs.find(wasTriggered);
  for (const run of runs) {
    if (run.collectedAt === undefined) continue;
    yield* readForm(ledger, run, 'body');
    if (run === fileRun) yield* readForm(ledger, run, 'file');
  }
}

function wasTriggered({ file }: Run): boolean {
  return file?.triggeredAt !== undefined;
}

async function* readForm(
  ledger: OutcomeLedger,
  run: Run,
  form: BookingForm,
): AsyncGenerator<readonly Outcome[], void, undefined> {
  const undelivered = form === 'body' ? await ledger.listUndelivered(run.id) : [];
  const judgements = createJudgements(ledger, run, form);
  const suspects = createSuspects(ledger, run, form);
  const findPair = createPairReader(form);
  for await (const { batch, lines } of readStoredBatches(ledger, run, form)) {
    const judged = await judgements(batch);
    const suspect = await suspects(batch);
    const left = undelivered.filter((slice) => slice.batch === batch);
    yield splitStoredLines(lines).flatMap((line, place) => {
      if (left.some(({ first, bookings }) => place >= first && place < first + bookings)) return [];
      const verdict = judgeBooking({ run, form, step: { state: 'done' }, judged: judged.get(place) });
      return [{ ...findPair(line), verdict, isSuspect: suspect.has(place) }];
    });
  }
}

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
