import { isDeepStrictEqual } from 'node:util';
import { identify, nameOf } from './journal.js';
import type { Expected } from './model.js';
import { type ExpectedCase, expectMoves } from './model-moves.js';
import type { World } from './world.js';

type Fields = Readonly<Record<string, unknown>>;

interface Shown {
  readonly state: string;
  readonly origins: readonly string[];
  readonly move: string | null;
  /** By reference. */
  readonly bookings: Readonly<Record<string, string>>;
}

const escalatedAfterMs = 3 * 86_400_000;

/** Which cases there are, why, and what became of their bookings. */
export async function judgeCases({ ask, journal, app }: World): Promise<string[]> {
  const today = app.today();
  const { cases } = expectMoves(journal);
  const found = new Map<string, Shown>();
  const faults: string[] = [];
  const listed = new Map<number, number>();
  for (const { id, openBookings } of (await ask('cases')).json.cases) listed.set(id, openBookings);
  for (let id = 1; ; id += 1) {
    const { code, json } = await ask('case', String(id));
    if (code !== 0) break;
    found.set([json.providerName, json.providerHotelId, json.serviceId].join(' '), readCase(json));
    const open = json.bookingList.filter(({ state }: Fields) => state === 'open').length;
    if (open !== (listed.get(id) ?? 0))
      faults.push(`case ${id}: ${open} open, listed with ${listed.get(id)}`);
  }
  const pairs = new Set([...found.keys(), ...cases.keys()]);
  const different = [...pairs].flatMap((pair) => {
    const held = cases.get(pair);
    const expected = held && showExpected(held, today);
    return isDeepStrictEqual(found.get(pair), expected)
      ? []
      : [`case ${pair}: ${JSON.stringify(found.get(pair))}, expected ${JSON.stringify(expected)}`];
  });
  return [...faults, ...different];
}

// biome-ignore lint/suspicious/noExplicitAny: what a command prints is what is tested
function readCase({ state, origins, move, bookingList }: any): Shown {
  const known = (bookingList as readonly Fields[]).filter(({ reference }) => reference !== null);
  return {
    ...{ state, origins: [...origins].sort(), move },
    bookings: sortByName(
      known.map((one) => [String(one.reference), `${one.state}${one.isNamed ? ', named' : ''}`]),
    ),
  };
}

function showExpected({ state, reportedAt, origins, move, bookings }: ExpectedCase, today: string): Shown {
  const reported = Date.now() - (reportedAt ?? 0) < escalatedAfterMs ? 'reported' : 'escalated';
  const isReported = state === 'open' && reportedAt !== undefined;
  const stateOf = (isResolved: boolean, checkOut: string) =>
    isResolved ? 'resolved' : checkOut < today ? 'left' : 'open';
  return {
    ...{ state: isReported ? reported : state, origins: [...origins].sort(), move },
    bookings: sortByName(
      [...bookings].map(([reference, { isElsewhere, isHelped = false, checkOut, isNamed }]) => [
        reference,
        `${stateOf(isElsewhere || isHelped, checkOut)}${isNamed ? ', named' : ''}`,
      ]),
    ),
  };
}

function sortByName(entries: readonly (readonly [string, string])[]): Readonly<Record<string, string>> {
  return Object.fromEntries([...entries].sort(([one], [other]) => (one < other ? -1 : 1)));
}

interface Day {
  readonly number: number;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly expected: Expected;
}

/** What was doubtful when the newest run that sent it was collected, if there was a copy. */
export async function judgeSuspects({ ask, journal, number, day, expected }: World & Day): Promise<string[]> {
  const { outcome } = (await ask('status', day)).json;
  // What is still to be sent counts, too.
  if (outcome.pending > 0 || expected.bookings.size === 0) return [];
  const { suspects } = expectMoves(journal);
  const counting = [...expected.bookings].filter(([, { isSuperseded }]) => !isSuperseded);
  const isCompared = counting.some(([, { lastRun }]) => suspects.get(lastRun) !== undefined);
  const doubted = counting.flatMap(([booking, { lastRun, times }]) =>
    suspects.get(lastRun)?.has(booking) ? Array.from({ length: times }, () => nameOf(booking, number)) : [],
  );
  const { json } = await ask('suspects', day);
  const found = json.suspects?.map((fields: object) => nameOf(identify(fields), number)).sort() ?? null;
  const all = isCompared ? doubted.sort() : null;
  return isDeepStrictEqual(found, all)
    ? []
    : [`suspects: ${JSON.stringify(found)}, expected ${JSON.stringify(all)}`];
}

/** What the copy holds about each hotel: what the service has, or what it was told of that. */
export async function judgeCopy({ ask, journal }: World): Promise<string[]> {
  const faults: string[] = [];
  const told = journal.findLast((one) => one.kind === 'told');
  const heard = [...expectMoves(journal).copy].map(([hotel, { to }]) => [hotel, to] as const);
  for (const [hotel, to = null] of told?.kind === 'told' && told.all ? told.all : heard) {
    const { json } = await ask('mappings', 'show', ...hotel.split(' '));
    if (json.serviceId !== to) faults.push(`mappings show ${hotel}: ${json.serviceId}, expected ${to}`);
  }
  return faults;
}
