import { isDeepStrictEqual } from 'node:util';
import { visitDesk } from './desk.js';
import { identify, nameOf, onMapping, referenceIn } from './journal.js';
import { type Expected, expectDay, type KnownBooking } from './model.js';
import { day, type World } from './world.js';

type Fields = Readonly<Record<string, unknown>>;

const always = [judgeLists, judgeRuns, judgeGoodness, judgeReport, judgeHistories, judgeCases];
/** They take as long as all others together. */
const atTheEnd = [judgeProviders, judgeMetrics, judgeDesk];

/** Compares what every surface says of the day with the model; one line for each difference. */
export async function judgeSurfaces(world: World, isEnd: boolean): Promise<readonly string[]> {
  const expected = expectDay(world.journal);
  const faults: string[] = [];
  for (const judge of isEnd ? [...always, ...atTheEnd] : always)
    faults.push(...(await judge(world, expected)));
  return faults;
}

function differ(what: string, found: unknown, expected: unknown): string[] {
  if (isDeepStrictEqual(found, expected)) return [];
  return [`${what}: ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`];
}

/** The bookings that count and are so, each as often as it counts, by name. */
function listWhere(
  { bookings }: Expected,
  is: (booking: KnownBooking, key: string) => boolean = () => true,
): string[] {
  return [...bookings]
    .filter(([key, booking]) => !booking.isSuperseded && is(booking, key))
    .flatMap(([booking, { times }]) => Array.from({ length: times }, () => nameOf(booking)))
    .sort();
}

function count(list: readonly unknown[] | null): number | null {
  return list === null ? null : list.length;
}

function namesOf(listed: readonly Fields[] | null): string[] | null {
  return listed === null ? null : listed.map((fields) => nameOf(identify(fields))).sort();
}

/** Unknown is null. What went by body is `posted` where there is a file, too, unless a result told about it. */
function expectLists(expected: Expected) {
  const { isJudged, hasFile } = expected;
  return {
    affected: isJudged ? listWhere(expected, ({ verdict }) => verdict === 'incorrect') : null,
    unanswered: hasFile
      ? listWhere(expected, ({ verdict, by }) => verdict === 'unknown' && by === 'file')
      : null,
    posted: hasFile ? listWhere(expected, ({ verdict, by }) => verdict === 'unknown' && by === 'body') : [],
  };
}

async function judgeLists({ ask }: World, expected: Expected): Promise<string[]> {
  const { affected, unanswered, posted } = expectLists(expected);
  const { json: list } = await ask('affected', day);
  const { json: others } = await ask('affected', day, '--unanswered');
  return [
    ...differ('affected', namesOf(list.affected), affected),
    ...differ('affected: unanswered', list.unanswered, count(unanswered)),
    ...differ('affected: posted', list.posted, posted.length),
    ...differ('affected --unanswered', namesOf(others.unansweredBookings), unanswered ?? []),
    ...differ('posted', namesOf((await ask('posted', day)).json.posted), posted),
    ...differ('refused', (await ask('refused', day)).json.refused, []),
    // Nothing was compared with a copy of the mappings.
    ...differ('suspects', (await ask('suspects', day)).json.suspects, null),
  ];
}

/** What the day came to, and each of its runs. */
async function judgeRuns({ ask }: World, all: Expected): Promise<string[]> {
  const { runs, outcome } = (await ask('status', day)).json;
  const { affected, unanswered, posted } = expectLists(all);
  const inAll = [
    ...differ('status: delivered', outcome.delivered, listWhere(all).length),
    ...differ('status: affected', outcome.affected, count(affected)),
    ...differ('status: unanswered', outcome.unanswered, count(unanswered)),
    ...differ('status: posted', outcome.posted, posted.length),
  ];
  return [...inAll, ...(runs as readonly ShownRun[]).flatMap((run) => judgeRun(run, all))];
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
    ...differ(`${runId} read`, read, runs.get(runId)?.read),
    ...differ(`${runId} read, and its parts`, read, accepted + duplicates + rejected + filtered),
    ...differ(`${runId} accepted, and its parts`, accepted, delivered + refused + pending),
    ...(file ? differ(`${runId} rows`, file.rows, accepted - posted + carried) : []),
  ];
}

/** Implausibly many affected bookings make a day that was sent not good, until somebody accepts them. */
async function judgeGoodness({ ask }: World, { implausible }: Expected): Promise<string[]> {
  const [latest] = (await ask('status', day)).json.runs;
  if (latest.state !== 'succeeded') return [];
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

async function judgeReport({ ask }: World, expected: Expected): Promise<string[]> {
  const { affected, unanswered, posted } = expectLists(expected);
  const { verdicts, affected: listed, runs } = (await ask('report', day)).json;
  return [
    ...differ('report: runs', runs.length, expected.runs.size),
    ...differ('report: affected', verdicts.affected, count(affected)),
    ...differ('report: unanswered', verdicts.unanswered, count(unanswered)),
    ...differ('report: posted', verdicts.posted, posted.length),
    ...differ('report: affected listed', listed.count, count(affected) ?? 0),
  ];
}

/** What is known of a booking stands in one of its entries, and what was superseded is still there. */
async function judgeHistories({ ask }: World, { bookings }: Expected): Promise<string[]> {
  const references = new Set([...bookings.keys()].flatMap(referenceIn));
  const shown = new Map<string, unknown[]>();
  for (const reference of references)
    for (const { booking, verdict } of (await ask('show', reference)).json.bookings) {
      const verdicts = shown.get(identify(booking)) ?? [];
      shown.set(identify(booking), [...verdicts, verdict]);
    }
  return [...bookings].flatMap(([booking, { verdict, isNamedByMail }]) => {
    if (referenceIn(booking).length === 0) return [];
    const verdicts = shown.get(booking) ?? [];
    const expected = isNamedByMail ? 'incorrect' : verdict;
    return verdicts.includes(expected)
      ? []
      : [`show: ${nameOf(booking)}: ${verdicts.join(', ')}, expected ${expected}`];
  });
}

/** The bookings named in cases are those that were ever affected or named, and whose guests still need help. */
async function judgeCases({ ask, app }: World, { bookings }: Expected): Promise<string[]> {
  const named = new Set<string>();
  const listed = new Map<number, number>();
  for (const { id, openBookings } of (await ask('cases')).json.cases) listed.set(id, openBookings);
  const faults: string[] = [];
  for (let id = 1; ; id += 1) {
    const { code, json } = await ask('case', String(id));
    if (code !== 0) break;
    const open = json.bookingList.filter(({ state }: Fields) => state === 'open').length;
    faults.push(...differ(`case ${id}: open`, listed.get(id) ?? 0, open));
    for (const { reference, isNamed } of json.bookingList)
      if (isNamed) named.add([reference, json.providerName, json.providerHotelId, json.serviceId].join(' '));
  }
  const expected = [...bookings].flatMap(([booking, { wasNamed }]) => {
    const [reference, , hotelId, , , checkOut = ''] = booking.split(' ');
    const needsHelp = reference !== '-' && hotelId !== '-' && checkOut >= app.today();
    return wasNamed && needsHelp ? [onMapping(booking)] : [];
  });
  return [...faults, ...differ('cases: named', [...named].sort(), [...new Set(expected)].sort())];
}

/** The pages say in sentences what the lists say in numbers. */
async function judgeDesk(world: World, expected: Expected): Promise<string[]> {
  const { ofDay, inCalendar } = await visitDesk(world);
  const { affected } = expectLists(expected);
  const [, found = '0'] = /^(\d+) bookings? on an incorrect mapping/.exec(ofDay.needs?.text ?? '') ?? [];
  return [
    ...differ('desk: runs', ofDay.count, expected.runs.size),
    ...differ('desk: affected', Number(found), count(affected) ?? 0),
    ...differ('desk: bookings in the calendar', inCalendar?.accepted, listWhere(expected).length),
    ...differ('desk: calendar, and day', inCalendar?.headline, ofDay.headline),
  ];
}

async function judgeProviders({ ask }: World, expected: Expected): Promise<string[]> {
  const { providers } = (await ask('providers', '--from', day, '--to', day)).json;
  return providers.flatMap(({ providerName, sent, known, affected }: Fields) => {
    const isOf = (key: string) => key.split(' ')[1] === providerName;
    const judged = listWhere(expected, ({ verdict }, key) => isOf(key) && verdict !== 'unknown');
    const wrong = listWhere(
      expected,
      ({ verdict, isNamedByMail }, key) =>
        isOf(key) && (verdict === 'incorrect' || (isNamedByMail && verdict === 'correct')),
    );
    return [
      ...differ(
        `providers: sent of ${providerName}`,
        sent,
        listWhere(expected, (_, key) => isOf(key)).length,
      ),
      ...differ(`providers: known of ${providerName}`, known, judged.length),
      ...differ(
        `providers: affected of ${providerName}`,
        affected,
        judged.length === 0 ? null : wrong.length,
      ),
    ];
  });
}

async function judgeMetrics({ readMetrics }: World, expected: Expected): Promise<string[]> {
  const { affected, unanswered, posted } = expectLists(expected);
  const text = await readMetrics();
  const read = (name: string) => {
    const [, value] = new RegExp(`^hotel_review_latest_day_${name} (\\S+)$`, 'm').exec(text) ?? [];
    return value === undefined ? null : Number(value);
  };
  const delivered = /^hotel_review_latest_day_bookings\{state="delivered"\} (\S+)$/m.exec(text)?.[1];
  return [
    ...differ('metrics: delivered', Number(delivered), listWhere(expected).length),
    ...differ('metrics: affected', read('affected_bookings'), count(affected)),
    ...differ('metrics: unanswered', read('unanswered_bookings'), count(unanswered)),
    ...differ('metrics: posted', read('posted_bookings'), posted.length),
  ];
}
