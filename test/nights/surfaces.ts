import { isDeepStrictEqual } from 'node:util';
import { isoOf } from './calendar.js';
import { visitDesk } from './desk.js';
import { addDays, fullNameOf } from './guests.js';
import { bookingOf, type Entry, identify, nameOf, recall, referenceIn } from './journal.js';
import { judgeDue } from './judge-due.js';
import { judgeCases, judgeCopy, judgeSuspects } from './judge-moves.js';
import { judgeNotices } from './judge-notices.js';
import { judgeForgotten, judgeRestored } from './judge-restored.js';
import { type Expected, expectDay, type KnownBooking } from './model.js';
import type { World } from './world.js';

type Fields = Readonly<Record<string, unknown>>;

/** One day, and what every surface must say of it. */
interface Look extends World {
  readonly number: number;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly expected: Expected;
}

const always = [judgeSent, judgeErased, judgeLists, judgeRuns, judgeReport, judgeHistories];
/** They take as long as all others together. */
const atItsEnd = [
  judgeGoodness,
  judgeRefused,
  judgeProviders,
  judgeDesk,
  judgeSuspects,
  judgeCases,
  judgeEnded,
];

/** Compares what every surface says of a day with the model; one line for each difference. @param isItsEnd whether another day follows */
export async function judgeDay(world: World, number: number, isItsEnd: boolean): Promise<readonly string[]> {
  const day = isoOf(number);
  const expected = expectDay(world.journal, number);
  // Nothing was ever begun on it, as far as the ledger knows.
  if (expected.runs.size === 0) return isItsEnd ? judgeForgotten(world, number) : [];
  const look = { ...world, number, day, expected };
  const faults = [...world.takeFaults()];
  for (const judge of isItsEnd ? [...always, ...atItsEnd] : always) faults.push(...(await judge(look)));
  return faults;
}

/** Once a day has succeeded, everything that its newest run found was sent. */
async function judgeSent({ ledger, day, number, journal }: Look): Promise<string[]> {
  if ((await ledger.runs.latest(day))?.state !== 'succeeded') return [];
  const ofDay = journal.filter((one) => one.day === number);
  const sent = new Set(ofDay.flatMap((one) => (one.kind === 'sent' ? one.bookings.map(identify) : [])));
  const newest = ofDay.findLast((one) => one.kind === 'collected');
  const lost = newest?.source.filter((guest) => !sent.has(bookingOf(guest, number))) ?? [];
  return lost.map((guest) => `lost: ${guest}`);
}

/** Once results say something about each booking of the newest run's file, and each of them can be read, it has succeeded. */
async function judgeEnded({ ledger, day, journal }: Look): Promise<string[]> {
  const latest = await ledger.runs.latest(day);
  const ofRun = journal.filter((one) => 'run' in one && one.run === latest?.id);
  const sent = ofRun.flatMap((one) =>
    one.kind === 'sent' && one.by === 'file' ? one.bookings.map(identify) : [],
  );
  const files = new Map(ofRun.flatMap((one) => (one.kind === 'result' ? [[one.name, one]] : [])));
  const answered = new Set([...files.values()].flatMap(({ rows }) => rows).map(({ booking }) => booking));
  if (sent.length === 0 || sent.some((booking) => !answered.has(booking))) return [];
  if ([...files.values()].some(({ isUnreadable }) => isUnreadable)) return [];
  return differ('state, with a whole result', latest?.state, 'succeeded');
}

/** Where the newest thing that is known of a guest is that they were erased, their name is nowhere. */
async function judgeErased({ journal, everything, number, search }: Look): Promise<string[]> {
  const ofDay = journal.filter((one) => one.day === number);
  return ofDay.flatMap((one, at) => {
    if (one.kind !== 'erased' || wasSentAgain(everything, one)) return [];
    const name = fullNameOf(one.guest, number) ?? '';
    // A result that the service writes later is its own, and so is a file that the ledger does not know any more.
    const mayBeOnServer =
      ofDay.slice(at).some(({ kind }) => kind === 'result') ||
      everything.some(({ kind }) => kind === 'restored');
    return search(name)
      .filter((place) => !(mayBeOnServer && place.startsWith('sftp:')))
      .map((place) => `${name} was erased, and stands in ${place}`);
  });
}

/** A ledger that did not know of the erasure has collected the guest since: the receipts say that it is to be repeated. */
function wasSentAgain(everything: readonly Entry[], erasure: Entry & { readonly kind: 'erased' }): boolean {
  const since = everything.indexOf(erasure) + 1;
  return everything.some(
    (one, at) =>
      at >= since &&
      one.kind === 'collected' &&
      one.day === erasure.day &&
      one.source.includes(erasure.guest) &&
      !recall(everything.slice(0, at)).includes(erasure),
  );
}

/** The same for what is said of all days at once. */
export async function judgeWhole(world: World): Promise<readonly string[]> {
  return [
    ...world.takeFaults(),
    ...(await judgeCopy(world)),
    ...(await judgeMetrics(world)),
    ...(await judgeNotices(world)),
    ...judgeRestored(world.everything),
    ...(await judgeDue(world)),
  ];
}

function differ(what: string, found: unknown, expected: unknown): string[] {
  if (isDeepStrictEqual(found, expected)) return [];
  return [`${what}: ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`];
}

/** The bookings that count and are so, each as often as it counts, by name. */
function listWhere(
  { expected: { bookings }, number }: Pick<Look, 'expected' | 'number'>,
  is: (booking: KnownBooking, key: string) => boolean = () => true,
): string[] {
  return [...bookings]
    .filter(([key, booking]) => !booking.isSuperseded && is(booking, key))
    .flatMap(([booking, { times }]) => Array.from({ length: times }, () => nameOf(booking, number)))
    .sort();
}

function count(list: readonly unknown[] | null): number | null {
  return list === null ? null : list.length;
}

function namesOf({ number }: Look, listed: readonly Fields[] | null): string[] | null {
  return listed === null ? null : listed.map((fields) => nameOf(identify(fields), number)).sort();
}

/** Unknown is null. What went by body is `posted` where there is a file, too, unless a result told about it. */
function expectLists(look: Pick<Look, 'expected' | 'number'>) {
  const { isJudged, isByFile, hasFile } = look.expected;
  const unknownBy = (way: KnownBooking['by']) =>
    listWhere(look, ({ verdict, by }) => verdict === 'unknown' && by === way);
  return {
    affected: isJudged ? listWhere(look, ({ verdict }) => verdict === 'incorrect') : null,
    unanswered: hasFile ? unknownBy('file') : null,
    posted: isByFile ? unknownBy('body') : [],
  };
}

async function judgeLists(look: Look): Promise<string[]> {
  const { ask, day } = look;
  const { affected, unanswered, posted } = expectLists(look);
  const { json: list } = await ask('affected', day);
  const { json: others } = await ask('affected', day, '--unanswered');
  return [
    ...differ('affected', namesOf(look, list.affected), affected),
    ...differ('affected: unanswered', list.unanswered, count(unanswered)),
    ...differ('affected: posted', list.posted, posted.length),
    ...differ('affected --unanswered', namesOf(look, others.unansweredBookings), unanswered ?? []),
    ...differ('posted', namesOf(look, (await ask('posted', day)).json.posted), posted),
  ];
}

async function judgeRefused({ ask, day }: Look): Promise<string[]> {
  return differ('refused', (await ask('refused', day)).json.refused, []);
}

/** What the day came to, and each of its runs. */
async function judgeRuns(look: Look): Promise<string[]> {
  const { ask, day, expected } = look;
  const { runs, outcome } = (await ask('status', day)).json;
  const { affected, unanswered, posted } = expectLists(look);
  const inAll = [
    ...differ('status: delivered', outcome.delivered, listWhere(look).length),
    ...differ('status: affected', outcome.affected, count(affected)),
    ...differ('status: unanswered', outcome.unanswered, count(unanswered)),
    ...differ('status: posted', outcome.posted, posted.length),
  ];
  return [...inAll, ...(runs as readonly ShownRun[]).flatMap((run) => judgeRun(run, expected))];
}

interface ShownRun {
  readonly runId: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly file: { readonly rows: number } | null;
}

/** A run counts its own source, and the sums of the design hold. */
function judgeRun({ runId, counts, file }: ShownRun, { runs }: Expected): string[] {
  const { read, accepted = 0, duplicates = 0, rejected = 0, filtered = 0, posted = 0 } = counts;
  const { delivered = 0, refused = 0, pending = 0, carried = 0 } = counts;
  return [
    ...(runs.get(runId) ? differ(`${runId} read`, read, runs.get(runId)?.read) : []),
    ...differ(`${runId} read, and its parts`, read, accepted + duplicates + rejected + filtered),
    ...differ(`${runId} accepted, and its parts`, accepted, delivered + refused + pending),
    ...(file ? differ(`${runId} rows`, file.rows, accepted - posted + carried) : []),
  ];
}

/** Implausibly many affected bookings make a day that was sent not good, until somebody accepts them. */
async function judgeGoodness({ ask, day, expected: { implausible, isEarly } }: Look): Promise<string[]> {
  const [latest] = (await ask('status', day)).json.runs;
  if (latest.state !== 'succeeded') return [];
  if (isEarly) return differ('status: good too early', latest.isGood, false);
  const found = latest.notGood.find(({ code }: Fields) => code === 'affected-implausible');
  const isGood = implausible?.isAccepted ?? true;
  const { code, json } = await ask('run', day);
  return [
    ...differ(
      'status: implausible',
      found && [found.affected, found.judged, found.acceptedAt !== null],
      implausible && [implausible.affected, implausible.judged, implausible.isAccepted],
    ),
    ...differ('status: good', latest.isGood, isGood),
    ...differ('run once more', [code, json.runId, json.isGood], [isGood ? 0 : 5, latest.runId, isGood]),
  ];
}

async function judgeReport(look: Look): Promise<string[]> {
  const { ask, day, expected } = look;
  const { affected, unanswered, posted } = expectLists(look);
  const { verdicts, affected: listed, runs } = (await ask('report', day)).json;
  return [
    ...differ('report: runs', runs.length, expected.runs.size),
    ...differ('report: affected', verdicts.affected, count(affected)),
    ...differ('report: unanswered', verdicts.unanswered, count(unanswered)),
    ...differ('report: posted', verdicts.posted, posted.length),
    ...differ('report: affected listed', listed.count, count(affected) ?? 0),
  ];
}

/** References of a day that are looked up at a time. */
const mostShown = 4;

/** What is known of a booking stands in one of its entries, and what was superseded is still there. */
async function judgeHistories({ ask, number, journal, expected: { bookings } }: Look): Promise<string[]> {
  const all = [...new Set([...bookings.keys()].flatMap(referenceIn))];
  // Each takes a command: others the next time.
  const from = all.length === 0 ? 0 : journal.length % all.length;
  const references = [...all.slice(from), ...all.slice(0, from)].slice(0, mostShown);
  const shown = new Map<string, unknown[]>();
  for (const reference of references)
    for (const { booking, verdict } of (await ask('show', reference)).json.bookings) {
      const verdicts = shown.get(identify(booking)) ?? [];
      shown.set(identify(booking), [...verdicts, verdict]);
    }
  return [...bookings].flatMap(([booking, { verdict, isNamedByMail }]) => {
    if (!referenceIn(booking).some((reference) => references.includes(reference))) return [];
    const verdicts = shown.get(booking) ?? [];
    const expected = isNamedByMail ? 'incorrect' : verdict;
    return verdicts.includes(expected)
      ? []
      : [`show: ${nameOf(booking, number)}: ${verdicts.join(', ')}, expected ${expected}`];
  });
}

/** The pages say in sentences what the lists say in numbers. */
async function judgeDesk(look: Look): Promise<string[]> {
  const { expected } = look;
  const { ofDay, inCalendar } = await visitDesk(look, look.day);
  const { affected } = expectLists(look);
  const [, found = '0'] = /^(\d+) bookings? on an incorrect mapping/.exec(ofDay.needs?.text ?? '') ?? [];
  return [
    ...differ('desk: runs', ofDay.count, expected.runs.size),
    ...differ('desk: affected', Number(found), count(affected) ?? 0),
    ...differ('desk: bookings in the calendar', inCalendar?.accepted, listWhere(look).length),
    ...differ('desk: calendar, and day', inCalendar?.headline, ofDay.headline),
  ];
}

async function judgeProviders(look: Look): Promise<string[]> {
  const { ask, day } = look;
  const { providers } = (await ask('providers', '--from', day, '--to', day)).json;
  return providers.flatMap(({ providerName, sent, known, affected }: Fields) => {
    const isOf = (key: string) => key.split(' ')[1] === providerName;
    const judged = listWhere(look, ({ verdict }, key) => isOf(key) && verdict !== 'unknown');
    const wrong = listWhere(
      look,
      ({ verdict, isNamedByMail }, key) =>
        isOf(key) && (verdict === 'incorrect' || (isNamedByMail && verdict === 'correct')),
    );
    return [
      ...differ(`providers: sent of ${providerName}`, sent, listWhere(look, (_, key) => isOf(key)).length),
      ...differ(`providers: known of ${providerName}`, known, judged.length),
      ...differ(
        `providers: affected of ${providerName}`,
        affected,
        judged.length === 0 ? null : wrong.length,
      ),
    ];
  });
}

const daysShown = 14;

/** They tell of the latest day that is over, if it is one of the last two weeks. */
async function judgeMetrics({ readMetrics, journal, app }: World): Promise<string[]> {
  const today = app.today();
  const isRecent = (day: string) => day < today && day >= addDays(today, -daysShown);
  const over = journal.filter(({ kind, day }) => kind === 'collected' && isRecent(isoOf(day)));
  if (over.length === 0) return [];
  const number = Math.max(...over.map(({ day }) => day));
  const look = { number, expected: expectDay(journal, number) };
  const { affected, unanswered, posted } = expectLists(look);
  const text = await readMetrics();
  const read = (name: string) => {
    const [, value] = new RegExp(`^hotel_review_latest_day_${name} (\\S+)$`, 'm').exec(text) ?? [];
    return value === undefined ? null : Number(value);
  };
  const delivered = /^hotel_review_latest_day_bookings\{state="delivered"\} (\S+)$/m.exec(text)?.[1];
  return [
    ...differ('metrics: delivered', Number(delivered), listWhere(look).length),
    ...differ('metrics: affected', read('affected_bookings'), count(affected)),
    ...differ('metrics: unanswered', read('unanswered_bookings'), count(unanswered)),
    ...differ('metrics: posted', read('posted_bookings'), posted.length),
  ];
}
