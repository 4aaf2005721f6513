import { readStoredBatches, splitStoredLines } from '../ledger/batches.js';
import { type Judged, unansweredReasons } from '../ledger/findings.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { isNamedByMapping } from '../ledger/mail-bookings.js';
import type { ReceivedPair } from '../ledger/mails.js';
import type { Run } from '../ledger/run.js';
import { type BookingForm, bookingForms } from '../ledger/step.js';
import { lineForms, readBooking } from '../review/stored/stored-line.js';
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

/** What is known about the bookings besides the runs; silence is undefined where it means nothing. */
interface Known {
  readonly namedPairs: Awaited<ReturnType<typeof readNamedPairs>>;
  readonly silence?: Silence | undefined;
}

const runsOfDay = 1_000;
/** Cached names of providers: few, unless a column holds something else. */
const cachedProviders = 10_000;

/** The bookings of a day that were delivered, each once, one stored batch at a time. */
export async function* readOutcomes(
  ledger: ReadOnlyLedger,
  day: string,
  known: Known,
): AsyncGenerator<readonly Outcome[], void, undefined> {
  const { runs } = summariseVerdicts(day, await ledger.runs.list({ day, limit: runsOfDay }));
  // The file of a run that tops up covers the whole day, and repeats those before it.
  const fileRun =
    runs.find(({ file }) => file?.verdicts) ?? runs.find(({ file }) => file?.triggeredAt !== undefined);
  for (const run of runs) {
    if (run.collectedAt === undefined) continue;
    yield* readForm(ledger, run, 'body', known);
    if (run === fileRun) yield* readForm(ledger, run, 'file', known);
  }
}

async function* readForm(
  ledger: ReadOnlyLedger,
  run: Run,
  form: BookingForm,
  { namedPairs, silence }: Known,
): AsyncGenerator<readonly Outcome[], void, undefined> {
  const undelivered = form === 'body' ? await ledger.steps.listUndelivered(run.id) : [];
  const kinds: readonly Judged[] = form === 'file' ? ['incorrect', ...unansweredReasons] : [];
  const judgements = kinds.map((kind) => ({
    kind,
    placesOf: followPages((after) => ledger.bookings.nextJudged(run.id, kind, after)),
  }));
  const suspectsOf = followPages(async (batch) => {
    const page = await ledger.bookings.nextSuspects(run.id, { form, batch });
    if (page?.form !== form) return undefined;
    return { batch: page.cursor.batch, places: page.suspects.map(({ place }) => place) };
  });
  const ofForm = (await ledger.mails.listNamedPlaces(run.id)).filter((of) => of.form === form);
  const named = new Set(ofForm.map(({ batch, place }) => `${batch} ${place}`));
  const readProvider = createProviderReader(form);
  // A batch was delivered before its run ended.
  const attempts = run.finishedAt === undefined ? [] : [{ outcome: 'done', endedAt: run.finishedAt }];
  const judge = (judged?: Judged) =>
    judgeBooking({ run, form, step: { state: 'done' }, judged, attempts }, silence);
  const usual = judge();
  for await (const { batch, lines } of readStoredBatches(ledger, run, form)) {
    const judgedPlaces = new Map<number, Judged>();
    for (const { kind, placesOf } of judgements)
      for (const place of await placesOf(batch)) judgedPlaces.set(place, kind);
    const suspectPlaces = new Set(await suspectsOf(batch));
    const left = undelivered.filter((slice) => slice.batch === batch);
    const outcomes: Outcome[] = [];
    for (const [place, line] of splitStoredLines(lines).entries()) {
      if (left.some(({ first, bookings }) => place >= first && place < first + bookings)) continue;
      const judged = judgedPlaces.get(place);
      const verdict = judged === undefined ? usual : judge(judged);
      const isNamedByEmail = (named.size > 0 && named.has(`${batch} ${place}`)) || isPairNamed(line);
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
    const hotel = namedPairs[form].size === 0 ? undefined : lineForms[form].findHotel(line);
    const pairs =
      hotel && namedPairs[form].get(hotel.key)?.filter((pair) => pair.serviceId === hotel.serviceId);
    if (!pairs || pairs.length === 0) return false;
    const { checkInDate: checkIn } = readBooking(line, form);
    return pairs.some(({ receivedAt }) =>
      isNamedByMapping(receivedAt, { sentAfter: run.startedAt, checkIn }),
    );
  }
}

/** Finds the places in each batch, asked in the order of the batches: one page is held. */
function followPages(
  readNext: (
    after: number,
  ) => Promise<{ readonly batch: number; readonly places: readonly number[] } | undefined>,
) {
  let page: Awaited<ReturnType<typeof readNext>> = { batch: -1, places: [] };
  return async (batch: number): Promise<readonly number[]> => {
    while (page && page.batch < batch) page = await readNext(page.batch);
    return page?.batch === batch ? page.places : [];
  };
}

/** The pairs that e-mails name, by the keys of their hotels in stored lines. */
export async function readNamedPairs({ mails }: ReadOnlyLedger) {
  const pairs = { body: new Map<string, ReceivedPair[]>(), file: new Map<string, ReceivedPair[]>() };
  for (const pair of await mails.listNamedPairs())
    for (const form of bookingForms) {
      const key = lineForms[form].writeProviderHotel(pair);
      pairs[form].set(key, [...(pairs[form].get(key) ?? []), pair]);
    }
  return pairs;
}

/** Reads the provider of a line; a line is parsed only for a name that is not cached. */
function createProviderReader(form: BookingForm): (line: string) => string | undefined {
  const names = new Map<string, string>();
  return (line) => {
    const written = lineForms[form].findProvider(line);
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
