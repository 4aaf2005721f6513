import { type BatchStream, batchStreams } from '../../booking/sending.js';
import { stayOf } from '../../booking/stay.js';
import { findHotel, findProvider, readBooking, writeProviderHotel } from '../../booking/stored-line.js';
import { readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { isNamedByMapping, type ReceivedPair } from '../../ledger/mails.js';
import { keyOfBooking } from '../../review/collect/booking-keys.js';
import { judgeRuns, runsOfDay } from '../../review/outcome/day-outcome.js';
import { readJudgedRows, readSuspectRows } from '../../review/outcome/stored-entries.js';
import type { DayStanding, SentRun } from '../../rules/day-outcome.js';
import type { Judged } from '../../rules/review-file.js';
import type { Run } from '../../rules/run.js';
import { type BookingVerdict, judgeBooking } from '../../rules/verdict.js';

/** A booking that was sent, and what became of it. */
export interface Outcome {
  readonly providerName: string | undefined;
  /** Only of an incorrect booking: the lines of others are not parsed. */
  readonly providerHotelId: string | undefined;
  /** Without what e-mails say: they name incorrect bookings only. */
  readonly verdict: BookingVerdict;
  /** An e-mail names it, or its mapping. */
  readonly isNamedByEmail: boolean;
  /** The local copy of the mappings contradicted it before it was sent. */
  readonly isSuspect: boolean;
}

type NamedPairs = Awaited<ReturnType<typeof readNamedPairs>>;

/** Cached names of providers: few, unless a column holds something else. */
const cachedProviders = 10_000;

/** The bookings of a day that were delivered, each once, one stored batch at a time. */
export async function* readOutcomes(
  ledger: ReadOnlyLedger,
  day: string,
  namedPairs: NamedPairs,
): AsyncGenerator<readonly Outcome[], void, undefined> {
  const runs = await ledger.runs.list({ day, limit: runsOfDay });
  const { sent } = await judgeRuns(ledger, day, runs);
  const named = await readNamedKeys(ledger, runs, namedPairs);
  for (const one of sent) {
    if (one.run.collectedAt === undefined) continue;
    const others = named.filter(({ runId }) => runId !== one.run.id);
    const ofDay = { namedPairs, namedInOthers: new Set(others.flatMap(({ keys }) => keys)) };
    if (one.run.file?.triggeredAt !== undefined) yield* readStream(ledger, one, 'file', ofDay);
    yield* readStream(ledger, one, 'posted', ofDay);
  }
}

/** By run, the keys of the bookings that e-mails name, or whose mappings they name: one stays named if another run sends it, too. */
async function readNamedKeys(ledger: ReadOnlyLedger, runs: readonly Run[], namedPairs: NamedPairs) {
  // What the only run of a day sent is known by its row.
  const found: { readonly runId: string; readonly keys: string[] }[] = [];
  for (const run of runs.length > 1 ? runs : []) {
    const named = await ledger.mails.listNamedRows(run.id);
    const keys: string[] = [];
    const isPairNamed = createPairTest(namedPairs, run);
    for (const stream of batchStreams) {
      const ofStream = named.filter((of) => of.stream === stream);
      if (ofStream.length === 0 && isPairNamed === undefined) continue;
      for await (const { batch, lines } of readStoredBatches(ledger, run, stream)) {
        const rows = new Set(ofStream.filter((of) => of.batch === batch).map(({ row }) => row));
        if (rows.size === 0 && isPairNamed === undefined) continue;
        for (const [row, line] of splitStoredLines(lines).entries())
          if (rows.has(row) || isPairNamed?.(line)) keys.push(keyOfBooking(readBooking(line)));
      }
    }
    found.push({ runId: run.id, keys });
  }
  return found;
}

/** Whether an e-mail names the mapping of a line's booking, of those that came after its run began; undefined if none names any. */
function createPairTest(namedPairs: NamedPairs, run: Run): ((line: string) => boolean) | undefined {
  if (namedPairs.size === 0) return undefined;
  return (line) => {
    const hotel = findHotel(line);
    const pairs = hotel && namedPairs.get(hotel.key)?.filter((pair) => pair.serviceId === hotel.serviceId);
    if (!pairs || pairs.length === 0) return false;
    const { checkIn } = stayOf(readBooking(line), run.day);
    return pairs.some(({ receivedAt }) =>
      isNamedByMapping(receivedAt, { sentAfter: run.startedAt, checkIn }),
    );
  };
}

async function* readStream(
  ledger: ReadOnlyLedger,
  { run, standings }: SentRun,
  stream: BatchStream,
  { namedPairs, namedInOthers }: { namedPairs: NamedPairs; namedInOthers: ReadonlySet<string> },
): AsyncGenerator<readonly Outcome[], void, undefined> {
  const undelivered = stream === 'posted' ? await ledger.steps.listUndelivered(run.id) : [];
  const judgedRowsOf = readJudgedRows(ledger, run.id);
  const suspectsOf = readSuspectRows(ledger, run.id, stream);
  const ofStream = (await ledger.mails.listNamedRows(run.id)).filter((of) => of.stream === stream);
  const named = new Set(ofStream.map(({ batch, row }) => `${batch} ${row}`));
  const readProvider = createProviderReader();
  const judge = (judged?: Judged) => judgeBooking({ run, stream, step: { state: 'done' }, judged });
  const usual = judge();
  const isPairNamed = createPairTest(namedPairs, run);
  for await (const { batch, lines } of readStoredBatches(ledger, run, stream)) {
    const judgedRows = stream === 'file' ? await judgedRowsOf(batch) : undefined;
    const standing = standings.find(stream, batch);
    const suspectRows = new Set(await suspectsOf(batch));
    const left = undelivered.filter((slice) => slice.batch === batch);
    const outcomes: Outcome[] = [];
    for (const [row, line] of splitStoredLines(lines).entries()) {
      const stands = standing.get(row);
      if (stands === 'uncounted') continue;
      if (left.some(({ first, bookings }) => row >= first && row < first + bookings)) continue;
      const judged = judgedRows?.get(row);
      const own = judged === undefined ? usual : judge(judged);
      const verdict = stands === undefined ? own : toVerdict(stands);
      const isNamedByEmail =
        (named.size > 0 && named.has(`${batch} ${row}`)) ||
        isNamedInOther(line) ||
        isPairNamed?.(line) === true;
      const isIncorrect = isNamedByEmail || verdict.verdict === 'incorrect';
      outcomes.push({
        providerName: readProvider(line),
        providerHotelId: isIncorrect ? readBooking(line).providerHotelId : undefined,
        verdict,
        isNamedByEmail,
        isSuspect: suspectRows.has(row),
      });
    }
    yield outcomes;
  }

  function isNamedInOther(line: string): boolean {
    return namedInOthers.size > 0 && namedInOthers.has(keyOfBooking(readBooking(line)));
  }
}

function toVerdict(standing: Exclude<DayStanding, 'uncounted'>): BookingVerdict {
  return standing === 'correct' || standing === 'incorrect'
    ? { verdict: standing }
    : { verdict: 'unknown', reason: standing };
}

/** The pairs that e-mails name, by the keys of their hotels in stored lines. */
export async function readNamedPairs({ mails }: ReadOnlyLedger) {
  const pairs = new Map<string, ReceivedPair[]>();
  for (const pair of await mails.listNamedPairs()) {
    const key = writeProviderHotel(pair);
    pairs.set(key, [...(pairs.get(key) ?? []), pair]);
  }
  return pairs;
}

/** Reads the provider of a line; a line is parsed only for a name that is not cached. */
function createProviderReader(): (line: string) => string | undefined {
  const names = new Map<string, string>();
  return (line) => {
    const written = findProvider(line);
    if (written === undefined) return undefined;
    const known = names.get(written);
    if (known !== undefined) return known;
    const { providerName } = readBooking(line);
    if (providerName === undefined) return undefined;
    if (names.size === cachedProviders) names.clear();
    // Copied, because a slice would keep the whole batch in memory.
    names.set(Buffer.from(written).toString(), providerName);
    return providerName;
  };
}
