import { forEachYielding, yieldToEventLoop } from '../../base/event-loop.js';
import type { BatchStream } from '../../booking/sending.js';
import type { DayStanding, StandingRows } from '../../rules/day-outcome.js';
import { createKeyCounter, createOccurrenceIndex, type KeyCounter } from '../collect/line-index.js';

/** What a result said about a booking. */
export type RecordedVerdict = Exclude<DayStanding, 'uncounted'>;

/** A stored booking as one run knows it. */
export interface WalkedEntry {
  /** See `keyOfBooking`. */
  readonly key: string;
  /** `void`: it will never be sent, because its run was cancelled. */
  readonly state: 'delivered' | 'refused' | 'pending' | 'void';
  /** What the result of its run says; absent without a result. */
  readonly verdict?: RecordedVerdict | undefined;
  readonly isSuspect?: boolean;
  /** A later collect found another hotel or stay under its reference instead. */
  readonly isSuperseded?: boolean;
}

export interface WalkedRun {
  readonly id: string;
  /** Whether some of its bookings are neither delivered nor refused. */
  readonly hasPending: boolean;
  /** In the same order on each call. */
  read(): AsyncIterable<{
    readonly stream: BatchStream;
    readonly batch: number;
    readonly entries: readonly WalkedEntry[];
  }>;
}

/** The bookings that count for a day, in numbers. */
const createCounts = () => ({
  delivered: 0,
  refused: 0,
  pending: 0,
  /** Those in a file that a result calls incorrect, and those about which no result says anything readable. */
  incorrect: 0,
  unansweredInFile: 0,
  /** Those that went or go by body, and about which no result says anything. */
  byBody: 0,
  suspects: 0,
});

/**
 * Finds which of the stored bookings count for their day. Bookings with equal keys count as often as the run with most of them holds
 * them, each as the newest run has it that sent it; one that no run sent counts as the newest run has it. Of the verdicts on
 * one, the newest counts, and *incorrect* is cleared only by a newer *correct*.
 *
 * @param runs newest first
 */
export async function countBookings(runs: readonly WalkedRun[]) {
  const slots = createSlots();
  const counters = new Map<string, KeyCounter>();
  for (const run of runs) {
    const counter = createKeyCounter();
    if (run.hasPending) counters.set(run.id, counter);
    await walkRun(run, slots, (entry, row) => {
      if (entry.isSuperseded || entry.state === 'void') slots.leaveOut(row);
      else if (entry.state !== 'pending') slots.take(entry, counter.add(entry.key), row);
    });
  }
  // What was not sent comes last: a run that is under way does not hide what an earlier one sent.
  for (const run of runs) {
    const counter = counters.get(run.id);
    if (!counter) continue;
    await walkRun(run, slots, (entry, row) => {
      if (!entry.isSuperseded && entry.state === 'pending') slots.take(entry, counter.add(entry.key), row);
    });
  }
  return slots.sum();
}

async function walkRun(
  run: WalkedRun,
  slots: ReturnType<typeof createSlots>,
  visit: (entry: WalkedEntry, row: number) => void,
): Promise<void> {
  for await (const { stream, batch, entries } of run.read()) {
    slots.startBatch({ runId: run.id, stream, batch });
    for (const [row, entry] of entries.entries()) visit(entry, row);
    await yieldToEventLoop();
  }
}

/** Codes of verdicts in compact memory; 0 for none. */
const verdictCodes: readonly RecordedVerdict[] = ['correct', 'incorrect', 'not-in-result', 'unclear'];
const codeOf = (verdict: RecordedVerdict | undefined) =>
  verdict === undefined ? 0 : verdictCodes.indexOf(verdict) + 1;
const verdictOf = (code: number): RecordedVerdict | undefined => verdictCodes[(code & verdictBits) - 1];
const verdictBits = 7;
/** No older verdict changes this one. */
const isClosed = 8;

/** @param known the code of the newest verdict so far @returns the code with that of an older one */
function foldVerdict(known: number, older: number): number {
  if (older === 0 || known & isClosed) return known;
  const verdict = verdictOf(older);
  if (verdict === 'incorrect') return older | isClosed;
  const newest = known === 0 ? older : known;
  return verdict === 'correct' ? newest | isClosed : newest;
}

interface BatchOfRun {
  readonly runId: string;
  readonly stream: BatchStream;
  readonly batch: number;
}

const wordsPerSlot = 2;
/** Where a slot's second word has its verdicts; its row is in the lowest 16 bits, the first word is the number of its batch. */
const [verdictAt, ownAt] = [16, 20];

/** The bookings that count, in a few bytes each, and those that do not. */
function createSlots() {
  const index = createOccurrenceIndex();
  let words = new Uint32Array(wordsPerSlot * 1_024);
  const batches: BatchOfRun[] = [];
  const contributing = new Set<string>();
  const standings = gatherStandings();
  const counts = createCounts();

  /** Fills the slot that was added last. */
  function add({ state, verdict, isSuspect }: WalkedEntry, row: number): void {
    const at = wordsPerSlot * (index.size - 1);
    if (at === words.length) {
      const larger = new Uint32Array(2 * words.length);
      larger.set(words);
      words = larger;
    }
    const code = codeOf(verdict);
    words.set([batches.length - 1, row | (foldVerdict(0, code) << verdictAt) | (code << ownAt)], at);
    if (state !== 'void') counts[state] += 1;
    if (isSuspect) counts.suspects += 1;
  }

  function fold(slot: number, verdict: RecordedVerdict | undefined): boolean {
    const word = words[wordsPerSlot * slot + 1] ?? 0;
    const known = (word >>> verdictAt) & (verdictBits | isClosed);
    const folded = foldVerdict(known, codeOf(verdict));
    words[wordsPerSlot * slot + 1] = word ^ ((known ^ folded) << verdictAt);
    return verdictOf(folded) !== verdictOf(known);
  }

  function leaveOut(row: number): void {
    standings.add(batches.at(-1), 'uncounted', row);
  }

  function* eachSlot(): Generator<number, void, undefined> {
    for (let slot = 0; slot < index.size; slot += 1) yield slot;
  }

  function sumSlot(slot: number): void {
    const [at = 0, word = 0] = words.subarray(wordsPerSlot * slot, wordsPerSlot * (slot + 1));
    const verdict = verdictOf(word >>> verdictAt);
    if (verdict === 'incorrect') counts.incorrect += 1;
    else if (verdict !== 'correct')
      counts[batches[at]?.stream === 'file' ? 'unansweredInFile' : 'byBody'] += 1;
    if (verdict !== undefined && verdict !== verdictOf(word >>> ownAt))
      standings.add(batches[at], verdict, word & 0xffff);
  }

  return {
    startBatch: (batch: BatchOfRun) => batches.push(batch),
    leaveOut,
    /** @param occurrence of its key in its run */
    take(entry: WalkedEntry, occurrence: number, row: number): void {
      const held = index.findOrAdd(entry.key, occurrence);
      if (held === undefined) add(entry, row);
      else leaveOut(row);
      if (held === undefined || fold(held, entry.verdict)) contributing.add(batches.at(-1)?.runId ?? '');
    },
    /**
     * With the runs that hold counted bookings, or whose verdict counts for one; and what bookings count as, where their own run
     * says something else.
     */
    async sum() {
      await forEachYielding(eachSlot(), undefined, sumSlot);
      return { counts, contributing, rows: standings.list() };
    },
  };
}

/** Gathers rows by batch and standing. */
function gatherStandings() {
  const gathered = new Map<string, Omit<StandingRows, 'rows'> & { readonly rows: number[] }>();
  return {
    add(of: BatchOfRun | undefined, standing: DayStanding, row: number): void {
      if (!of) throw new TypeError('a booking came before its batch');
      const key = `${of.runId} ${of.stream} ${of.batch} ${standing}`;
      const known = gathered.get(key);
      if (known) known.rows.push(row);
      else gathered.set(key, { ...of, standing, rows: [row] });
    },
    list: (): StandingRows[] =>
      [...gathered.values()].map(({ rows, ...of }) => ({ ...of, rows: rows.sort((a, b) => a - b) })),
  };
}
