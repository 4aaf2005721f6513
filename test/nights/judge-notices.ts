import { firstDay, firstMidnight } from './calendar.js';
import { moody, steady } from './channels.js';
import { addDays } from './guests.js';
import type { Heard, Item, Told, Urgent } from './heard.js';
import { onMapping } from './journal.js';
import { expectDay } from './model.js';
import { judgeTold } from './model-notices.js';
import type { World } from './world.js';

const dayMs = 86_400_000;
/** A message waits so long for its receiver. */
const patienceMs = 3 * dayMs;
/** A channel to which nothing was sent for so long counts as gone. */
const forgottenMs = 2 * dayMs;
/** How often a message is sent that may have arrived, and how long it waits at least in between: people would get it twice. */
const [sendsAtMost, restMs] = [3, 450_000];

/** Each notice was told by each channel that wants it, once, and as soon as that worked. */
export async function judgeNotices(world: World): Promise<readonly string[]> {
  await world.tellTheRest();
  const { heard, journal, everything } = world;
  // A restored ledger does not know what it has told.
  if (everything.some(({ kind }) => kind === 'restored')) return [];
  const exports = journal.filter((one) => one.kind === 'export');
  const faults = [
    ...heard.flatMap((one) => (one.kind === 'told' ? one.faults : [])),
    ...judgeRepeats(heard),
    ...judgeTold(listFirst(heard, steady), exports, { firstDay, firstMidnight }),
    ...judgeRuns(heard),
    ...judgeMoody(heard),
    ...judgeRefusals(heard),
    ...judgeUrgent(heard),
    ...(await judgeUrgentBookings(world)),
  ];
  return faults.map((fault) => `notices: ${fault}`);
}

/** Without what other channels heard, and what came again. */
function listFirst(heard: readonly Heard[], channel: string): readonly Heard[] {
  const ids = new Set<string>();
  return heard.filter((one) => {
    if (one.kind !== 'told') return true;
    if (one.channel !== channel || !one.hasArrived || ids.has(one.id)) return false;
    ids.add(one.id);
    return true;
  });
}

function listTold(heard: readonly Heard[], channel: string): readonly Told[] {
  return listFirst(heard, channel).filter((one) => one.kind === 'told');
}

function listItems(heard: readonly Heard[], channel: string): readonly Item[] {
  return listTold(heard, channel).flatMap(({ items }) => items);
}

const sayOf = ({ event, stage, subject }: Item) => `${event} of ${subject} (${stage})`;

/** A message comes again only if nobody knows that it came, and so often at most. No notice comes in two messages. */
function judgeRepeats(heard: readonly Heard[]): string[] {
  const faults: string[] = [];
  const arrived = new Map<string, number>();
  const certain = new Set<string>();
  const restsUntil = new Map<string, number>();
  /** Confirmed by receivers, while it is not known whether their process records it. */
  let confirmed: string[] = [];
  for (const one of heard) {
    if (one.kind === 'checked') {
      if (one.isWhole) for (const id of confirmed) certain.add(id);
      confirmed = [];
    }
    if (one.kind !== 'told') continue;
    const id = `${one.channel} ${one.id}`;
    const times = (arrived.get(id) ?? 0) + Number(one.hasArrived);
    arrived.set(id, times);
    if (certain.has(id)) faults.push(`sent again, although it was accepted: ${one.items.map(sayOf)}`);
    if (times > sendsAtMost) faults.push(`sent ${times} times: ${one.items.map(sayOf)}`);
    if (one.at < (restsUntil.get(id) ?? 0)) faults.push(`sent again at once: ${one.items.map(sayOf)}`);
    if (one.isConfirmed) confirmed.push(id);
    else if (one.hasArrived) restsUntil.set(id, one.at + restMs);
  }
  for (const channel of [steady, moody]) {
    const said = listItems(heard, channel).map((item) => `${sayOf(item)} at ${item.at}`);
    faults.push(
      ...said.filter((one, at) => said.indexOf(one) !== at).map((one) => `${channel} heard twice: ${one}`),
    );
  }
  return faults;
}

/** Of each run whose result names more bookings than before, and of each result that is set aside, people hear once. */
function judgeRuns(heard: readonly Heard[]): string[] {
  const items = listItems(heard, steady);
  const faults: string[] = [];
  for (const event of ['affected-found', 'result-set-aside'] as const) {
    const subjects = items.filter((one) => one.event === event).map(({ subject }) => subject);
    if (new Set(subjects).size < subjects.length) faults.push(`${event} was told twice: ${subjects}`);
  }
  const known = new Map<string, number>();
  for (const one of heard) {
    if (one.kind !== 'run') continue;
    const of = items.filter(({ run }) => run === one.run);
    const counts = of.flatMap(({ event, facts }) =>
      event === 'affected-found' ? [Number(facts.affected)] : [],
    );
    if (one.affected > (known.get(one.run) ?? 0) && Math.max(0, ...counts) < one.affected)
      faults.push(`${one.run} has ${one.affected} affected bookings, told: ${counts}`);
    known.set(one.run, one.affected);
    const aside = of.filter(({ event }) => event === 'result-set-aside').length;
    if (aside < one.setAside) faults.push(`${one.run} set ${one.setAside} results aside, told: ${aside}`);
  }
  return faults;
}

const atNight = [
  ...['run-failed', 'day-late', 'day-recovered', 'volume-dropped', 'affected-implausible'],
  ...['credentials-refused', 'result-late', 'result-incomplete', 'resource-low', 'case-urgent'],
];

/** The other channel hears all that it wants, in the order of the first one, unless it did not work for as long as a message waits. */
function judgeMoody(heard: readonly Heard[]): string[] {
  const faults: string[] = [];
  const said = listItems(heard, moody).map((item) => `${sayOf(item)} at ${item.at}`);
  const tries = heard.filter((one) => one.kind === 'told' && one.channel === moody) as readonly Told[];
  const wanted = listItems(heard, steady).filter(
    ({ event, severity }) => atNight.includes(event) && severity !== 'info',
  );
  for (const item of wanted) {
    const place = said.indexOf(`${sayOf(item)} at ${item.at}`);
    const isTooOld = (at: number) => at >= item.at + patienceMs;
    // The last try may have ended before it came to the channel.
    const isLost =
      tries.some(({ at, items, code }) => code && isTooOld(at) && items.some((one) => isSame(one, item))) ||
      heard.some((one) => one.kind === 'checked' && !one.isWhole && isTooOld(one.at));
    if (place < 0 && !isLost) faults.push(`${moody} was not told: ${sayOf(item)}`);
    if (item.event !== 'day-recovered') continue;
    const late = wanted
      .filter((one) => one.day === item.day && one.at < item.at && one.event !== 'case-urgent')
      .find((one) => said.indexOf(`${sayOf(one)} at ${one.at}`) > place);
    if (place >= 0 && late) faults.push(`${moody} was told of ${sayOf(late)} after its end`);
  }
  const known = new Set(wanted.map((item) => `${sayOf(item)} at ${item.at}`));
  faults.push(
    ...said.filter((one) => !known.has(one)).map((one) => `${moody} was told what it does not want: ${one}`),
  );
  return faults;
}

function isSame(one: Item, other: Item): boolean {
  return sayOf(one) === sayOf(other) && one.at === other.at;
}

/** A channel that refuses our account is told of by the other one, and that it takes messages again. */
function judgeRefusals(heard: readonly Heard[]): string[] {
  const items = listItems(heard, steady).filter(({ event }) => event === 'credentials-refused');
  const endsAt = heard.findLast((one) => one.kind === 'checked')?.at ?? 0;
  const faults: string[] = [];
  /** When people were told last of what is not over. */
  let toldAt: number | undefined;
  /** Only a check forgets it. */
  const isForgotten = (told: number, at: number) =>
    heard.some((one) => one.kind === 'checked' && one.at > told + forgottenMs && one.at < at);
  const isOpen = (at: number) => toldAt !== undefined && !isForgotten(toldAt, at);
  for (const { stage, at } of items) {
    if (isOpen(at) === (stage === 'raised')) faults.push(`a refusing channel: ${stage} at ${at}`);
    toldAt = stage === 'recovered' ? undefined : at;
  }
  // One that took what there was, and never said so, is not known to.
  const tookOne = (since: number) =>
    heard.some((one) => one.kind === 'told' && one.channel === moody && one.isConfirmed && one.at > since);
  if (isOpen(endsAt) && tookOne(toldAt ?? 0)) faults.push('that a channel takes messages again was not told');
  if (wasSeenRefusing(heard) && items.length === 0) faults.push('that a channel refuses us was not told');
  return faults;
}

/** Whether all that waited for it, and was tried, had been refused before a check. */
function wasSeenRefusing(heard: readonly Heard[]): boolean {
  /** The last try of each notice. */
  const waiting = new Map<string, Told>();
  let wasRefusing = false;
  return heard.some((one) => {
    if (one.kind === 'told' && one.channel === moody)
      for (const item of one.items) waiting.set(`${sayOf(item)} at ${item.at}`, one);
    if (one.kind !== 'checked') return false;
    const left = [...waiting].filter(
      ([say, { code, items, at }]) =>
        code !== undefined &&
        items.some((item) => say === `${sayOf(item)} at ${item.at}` && at < item.at + patienceMs),
    );
    const isSeen = one.isWhole && wasRefusing;
    wasRefusing = one.isWhole && left.length > 0 && left.every(([, { code }]) => code === 'http-401');
    return isSeen;
  });
}

const mostSingly = 20;

/** Each urgent case is told once for each day that makes it so; of more than twenty at once, the most urgent. */
function judgeUrgent(heard: readonly Heard[]): string[] {
  const items = listItems(heard, steady).filter(({ event }) => event === 'case-urgent');
  const singly = new Set(
    items.filter(({ facts }) => facts.cases === undefined).map(({ subject }) => subject),
  );
  const faults: string[] = [];
  const known = new Set<string>();
  const subjectOf = (one: Urgent) => `case ${one.case} on ${one.on}`;
  const more = items.filter(({ facts }) => facts.cases !== undefined);
  const left: string[] = [];
  for (const one of heard) {
    if (one.kind !== 'checked') continue;
    for (const urgent of one.urgent) {
      const subject = subjectOf(urgent);
      if (!known.has(subject) && !singly.has(subject)) left.push(subject);
      known.add(subject);
    }
  }
  for (const subject of singly) if (!known.has(subject)) faults.push(`not urgent: ${subject}`);
  const together = more.reduce((sum, { facts }) => sum + Number(facts.cases), 0);
  const cases = new Set(left.map((subject) => subject.split(' ')[1])).size;
  if (together < cases || together > left.length)
    faults.push(`urgent, and not told: ${left}; together: ${together}`);
  for (const { at, subject } of more) {
    const same = items.filter((item) => item.at === at && item.facts.cases === undefined);
    if (same.length !== mostSingly) faults.push(`${subject}: ${same.length} were told singly`);
  }
  return faults;
}

/** Whoever is on a wrong mapping and arrives by tomorrow, or is in house, stands in a case that was told as urgent. */
async function judgeUrgentBookings({ heard, journal, ledger, app }: World): Promise<string[]> {
  const items = listItems(heard, steady).filter(({ event }) => event === 'case-urgent');
  // They are too many to have a message each.
  if (items.some(({ facts }) => facts.cases !== undefined)) return [];
  const today = app.today();
  const cases = await ledger.cases.list({ today, state: 'all' });
  const faults: string[] = [];
  for (const day of new Set(journal.map((one) => one.day)))
    for (const [booking, { verdict, namedBy, isSuperseded }] of expectDay(journal, day).bookings) {
      const [reference, provider, hotelId, serviceId, checkIn = '', checkOut = ''] = booking.split(' ');
      const isSoon = checkIn <= addDays(today, 1) && checkOut >= today;
      if (
        verdict !== 'incorrect' ||
        namedBy.length === 0 ||
        isSuperseded ||
        !isSoon ||
        reference === '-' ||
        hotelId === '-'
      )
        continue;
      const own = cases.find(
        (one) =>
          one.providerName === provider &&
          one.providerHotelId === hotelId &&
          String(one.serviceId) === serviceId,
      );
      const isTold = items.some(({ subject }) => {
        const [, id, , on = ''] = subject.split(' ');
        return id === String(own?.id) && on <= checkIn && (on >= today || checkIn < today);
      });
      if (!isTold && own?.state !== 'dismissed')
        faults.push(`${onMapping(booking)} is urgent on ${today}, and was not told`);
    }
  return faults;
}
