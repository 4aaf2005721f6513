import { readStoredBatches, splitStoredLines } from '../ledger/batches.js';
import type { Judged } from '../ledger/findings.js';
import { unansweredReasons } from '../ledger/findings.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { isNamedByMapping } from '../ledger/mail-bookings.js';
import type { ReceivedPair } from '../ledger/mails.js';
import type { Run } from '../ledger/run.js';
import { type BookingForm, bookingForms } from '../ledger/step.js';
import type { JudgedLines, SuspectLines } from '../ledger/tracing.js';
import { findHotel, findProvider, readBooking, writeProviderHotel } from '../review/stored/stored-line.js';
import { type BookingVerdict, judgeBooking, type Silence } from '../review/verdict.js';
import { summariseVerdicts } from '../review/verdicts/day-verdicts.js';

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

const runsOfDay = 1_000;
/** Cached names of providers: few, unless a column holds something else. */
const cachedProviders = 10_000;

/** What is known about the bookings besides the runs. */
export interface OutcomeSources {
  /** The pairs that e-mails name. */
  readonly namedPairs: NamedPairs;
  /** Undefined where silence means nothing. */
  readonly silence?: Silence | undefined;
}

/** The bookings of a day that were delivered, each once, one stored batch at a time. */
export async function* readOutcomes(
  ledger: ReadOnlyLedger,
  day: string,
  sources: OutcomeSources,
): AsyncGenerator<readonly Outcome[], void, undefined> {
  const { runs } = summariseVerdicts(day, await ledger.runs.list({ day, limit: runsOfDay }));
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
  ledger: ReadOnlyLedger,
  run: Run,
  form: BookingForm,
  { namedPairs, silence }: OutcomeSources,
): AsyncGenerator<readonly Outcome[], void, undefined> {
  const undelivered = form === 'body' ? await ledger.steps.listUndelivered(run.id) : [];
  const judgements = createJudgements(ledger, run, form);
  const suspects = createSuspects(ledger, run, form);
  const readProvider = createProviderReader(form);
  const named = await readNamed(ledger, run, form);
  // A batch was delivered before its run ended.
  const attempts = run.finishedAt === undefined ? [] : [{ outcome: 'done', endedAt: run.finishedAt }];
  const judge = (judged?: Judged) =>
    judgeBooking({ run, form, step: { state: 'done' }, judged, attempts }, silence);
  const usual = judge();
  for await (const { batch, lines } of readStoredBatches(ledger, run, form)) {
    const judgedPlaces = await judgements(batch);
    const suspectPlaces = await suspects(batch);
    const namedPlaces = named.get(batch);
    const left = undelivered.filter((slice) => slice.batch === batch);
    const outcomes: Outcome[] = [];
    for (const [place, line] of splitStoredLines(lines).entries()) {
      if (left.some(({ first, bookings }) => place >= first && place < first + bookings)) continue;
      const judged = judgedPlaces.get(place);
      const verdict = judged === undefined ? usual : judge(judged);
      const isNamedByEmail = namedPlaces?.has(place) === true || isPairNamed(line);
      const isIncorrect = isNamedByEmail || verdict.verdict === 'incorrect';
      outcomes.push({
        providerName: readProvider(line),
        providerHotelId: isIncorrect ? readBooking(line, form).providerHotelId : undefined,
        verdict,
        isNamedByEmail,
        isSuspect: suspectPlaces.has(place),
      });
    }
    yield outcomes;
  }

  function isPairNamed(line: string): boolean {
    const pairsOf = namedPairs[form];
    const hotel = pairsOf.size === 0 ? undefined : findHotel(line, form);
    const pairs = hotel && pairsOf.get(hotel.key)?.filter(({ serviceId }) => serviceId === hotel.serviceId);
    if (!pairs || pairs.length === 0) return false;
    const { checkInDate: checkIn } = readBooking(line, form);
    return pairs.some(({ receivedAt }) =>
      isNamedByMapping(receivedAt, { sentAfter: run.startedAt, checkIn }),
    );
  }
}

/** By the keys of their hotels in stored lines. */
export type NamedPairs = Readonly<Record<BookingForm, ReadonlyMap<string, readonly ReceivedPair[]>>>;

export async function readNamedPairs({ mails }: ReadOnlyLedger): Promise<NamedPairs> {
  const pairs = { body: new Map<string, ReceivedPair[]>(), file: new Map<string, ReceivedPair[]>() };
  for (const pair of await mails.listNamedPairs())
    for (const form of bookingForms) {
      const key = writeProviderHotel(pair, form);
      const known = pairs[form].get(key);
      if (known) known.push(pair);
      else pairs[form].set(key, [pair]);
    }
  return pairs;
}

/** The places in each batch. */
async function readNamed(
  { mails }: ReadOnlyLedger,
  { id }: Run,
  form: BookingForm,
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const named = new Map<number, Set<number>>();
  for (const { batch, place, ...of } of await mails.listNamedPlaces(id)) {
    if (of.form !== form) continue;
    const places = named.get(batch) ?? new Set();
    named.set(batch, places.add(place));
  }
  return named;
}

/** What the result says about the bookings of each batch, asked in the order of the batches: one page of each kind is held. */
function createJudgements(ledger: ReadOnlyLedger, { id }: Run, form: BookingForm) {
  const kinds: readonly Judged[] = form === 'file' ? ['incorrect', ...unansweredReasons] : [];
  const pages = new Map<Judged, JudgedLines | undefined>();
  return async (batch: number): Promise<ReadonlyMap<number, Judged>> => {
    const judged = new Map<number, Judged>();
    for (const kind of kinds) {
      let page = pages.has(kind) ? pages.get(kind) : await ledger.bookings.nextJudged(id, kind);
      while (page && page.batch < batch) page = await ledger.bookings.nextJudged(id, kind, page.batch);
      pages.set(kind, page);
      if (page?.batch === batch) for (const place of page.places) judged.set(place, kind);
    }
    return judged;
  };
}

/** The places of each batch's suspects, asked in the order of the batches. */
function createSuspects(ledger: ReadOnlyLedger, { id }: Run, form: BookingForm) {
  let page: SuspectLines | undefined;
  let isAtEnd = false;
  return async (batch: number): Promise<ReadonlySet<number>> => {
    while (!isAtEnd && (!page || page.form !== form || page.cursor.batch < batch)) {
      const cursor = page?.cursor ?? { form, batch: -1 };
      page = await ledger.bookings.nextSuspects(id, cursor);
      isAtEnd = page === undefined || page.form !== form;
    }
    if (isAtEnd || page?.cursor.batch !== batch) return new Set();
    return new Set(page.suspects.map(({ place }) => place));
  };
}

/** Reads the provider of a line; a line is parsed only for a name that is not cached. */
function createProviderReader(form: BookingForm): (line: string) => string | undefined {
  const names = new Map<string, string>();
  return (line) => {
    const written = findProvider(line, form);
    if (written === undefined) return undefined;
    const known = names.get(written);
    if (known !== undefined) return known;
    const { providerName } = readBooking(line, form);
    if (providerName === undefined) return undefined;
    if (names.size === cachedProviders) names.clear();
    // Copied, because a slice would keep the whole batch in memory.
    names.set(Buffer.from(written).toString(), providerName);
    return providerName;
  };
}
