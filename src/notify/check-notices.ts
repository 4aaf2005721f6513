import type { DiskRoom } from '../base/disk-room.js';
import { formatBytes } from '../base/format.js';
import { businessDayAt } from '../booking/business-day.js';
import { urgencyOf } from '../booking/stay.js';
import type { CaseSummary } from '../ledger/cases.js';
import type { Ledger } from '../ledger/ledger.js';
import { isAwaited } from '../ledger/mappings.js';
import type { OpenProblem, Told } from '../ledger/notices.js';
import { firstBound, readCompleteUntil } from '../mappings/sync-bounds.js';
import { makesDayGood } from '../rules/good-day.js';
import { isPartProblem, type NewNotice, noticeEvents, type PartProblem } from '../rules/notice.js';
import type { RefusingPeer } from '../rules/peers.js';
import { mayCompleteDay, type Run } from '../rules/run.js';
import type { CronTimes } from '../schedule/cron-times.js';
import { isRefusingChannel, refusesSender, toRefusingChannel } from './refused-credentials.js';

/**
 * What becomes true by the clock, or by several runs together, is found by polling: every process checks again and
 * again, and the ledger keeps what is already known. Nothing here depends on which process runs, or ran.
 */
export interface CheckParts {
  readonly ledger: Ledger;
  readonly timezone: string;
  /** The days that are late now. */
  readonly findLateDays: (now: number) => Promise<readonly string[]>;
  /** Until when the copy of the mappings must be complete at least; absent where nothing keeps it up to date. */
  readonly copy?: { readonly completeUntil: number } | undefined;
  /** How long after it was requested an export may take. */
  readonly exportPatienceMs: number;
  /** The free space of the disks in use. The places of two machines differ. */
  readonly measureFree: () => Promise<
    readonly (DiskRoom & { readonly place: string; readonly path: string })[]
  >;
  /** The digest that is due; undefined for none. */
  readonly findDigest: (now: number) => Promise<NewNotice | undefined>;
  readonly clock: () => number;
}

const dayMs = 86_400_000;
/** A nightly run that takes less time than the night before, or a change of the clocks, must not skip a reminder. */
const reminderSlackMs = 7_200_000;
/** With less free space a large day may not fit. */
const leastFreeBytes = 1_000_000_000;
/** A run by file makes a few dozen files. */
const leastFreeInodes = 1_000;

/** What one look sees. */
interface Look extends CheckParts {
  readonly now: number;
  readonly disks: Awaited<ReturnType<CheckParts['measureFree']>>;
  /** What was open before. */
  readonly problems: readonly OpenProblem[];
}

/** The copy of the mappings is stale after two cron times without a complete sync. */
export function findStaleBound(cronTimes: CronTimes, now: number): CheckParts['copy'] {
  const last = cronTimes.last(new Date(now));
  const before = last && cronTimes.last(new Date(last.getTime() - 1));
  return before && { completeUntil: before.getTime() };
}

/** Raises what is new, ends what is over, and reminds of what lasts. */
export async function checkNotices(parts: CheckParts): Promise<void> {
  const { ledger, clock } = parts;
  const now = clock();
  // Read first: a problem that another process raises in the meantime must not count as over because it was not found
  // here.
  const problems = await ledger.notices.listProblems();
  const look: Look = { ...parts, now, problems, disks: await parts.measureFree() };
  const found: NewNotice[] = [];
  for (const find of finders) for (const one of await find(look)) found.push({ ...one, raisedAt: now });
  const digest = await parts.findDigest(now);
  await ledger.notices.raise([...found, ...(digest ? [digest] : [])]);
  await ledger.notices.raise(await findUrgentCases(parts, now), tellUrgent);
  await endDays(look, found);
  await endOthers(look, found);
  // The ledger refuses a reminder of a problem that has just ended.
  for (const problem of problems) {
    if (!isReminderDue(problem, now)) continue;
    const asFound = found.find((one) => isSame(one, problem));
    if (isSeenOnlyThere(problem) && !asFound) continue;
    const { facts } = asFound ?? problem;
    await ledger.notices.remind({ ...problem, facts }, now);
  }
}

function isSame(one: NewNotice, other: typeof one): boolean {
  return one.event === other.event && one.subject === other.subject;
}

/** After this many days a reminder helps nobody. */
const daysReminded = 31;

/** Once for each day since the problem was found, so that nightly runs remind every night. */
export function isReminderDue(
  { raisedAt, lastToldAt }: { readonly raisedAt: number; readonly lastToldAt: number },
  now: number,
): boolean {
  const countDays = (at: number) => Math.floor((at - raisedAt + reminderSlackMs) / dayMs);
  return countDays(now) > countDays(lastToldAt) && countDays(now) <= daysReminded;
}

/** What there is of each problem that no event tells of. */
const finders: readonly ((look: Look) => Promise<Found[]> | Found[])[] = [
  async function findLate({ findLateDays, now }) {
    const days = await findLateDays(now);
    return days.map((day) => ({ event: 'day-late', subject: day, day, facts: {} }));
  },

  async function findStaleCopy({ ledger, copy, now }) {
    const latest = copy && (await ledger.mappings.latestSync());
    if (!latest) return [];
    const complete = readCompleteUntil(latest, 0);
    // Until its first cycle has ended, a copy is as old as that.
    const reach = complete <= firstBound ? latest.at : complete;
    if (reach >= copy.completeUntil) return [];
    const hours = Math.floor((now - reach) / 3_600_000);
    return [{ event: 'copy-stale', subject: 'mappings', facts: { hours } }];
  },

  async function findMissingExport({ ledger, exportPatienceMs, now }) {
    const request = await findOpenRequest(ledger);
    if (!request || now - request.requestedAt < exportPatienceMs) return [];
    return [{ event: 'export-missing', subject: 'export', facts: {} }];
  },

  function findLowDisks({ disks }) {
    const low = disks.filter(({ bytes, inodes }) => bytes < leastFreeBytes || inodes < leastFreeInodes);
    return low.map(({ place, path, bytes, inodes }) => {
      const free = inodes < leastFreeInodes ? `${inodes} inodes` : formatBytes(bytes);
      return { event: 'resource-low', subject: place, facts: { free, path } };
    });
  },

  /** A channel that refuses us is told of through the others. */
  async function findRefusingChannels({ ledger, now }) {
    const waiting = await ledger.notices.listWaiting(now);
    return waiting.flatMap(({ channel, lastCode: code = '' }): Found | [] => {
      const facts = { code, message: '' };
      return refusesSender(code)
        ? { event: 'credentials-refused', subject: toRefusingChannel(channel), facts }
        : [];
    });
  },
];

type Found = Omit<NewNotice, 'raisedAt'>;

/** Only the machine with the full disk can tell, and nobody knows of a channel to which nothing is sent. */
function isSeenOnlyThere({ event, subject }: NewNotice): boolean {
  return event === 'resource-low' || isRefusingChannel(subject);
}

/** All problems of a day end together, with one recovery. */
async function endDays(
  { ledger, timezone, problems, now }: Look,
  found: readonly NewNotice[],
): Promise<void> {
  const ofDays = problems.filter(({ event }) => noticeEvents[event].lasts === 'until-day-is-good');
  for (const day of new Set(ofDays.flatMap((problem) => problem.day ?? []))) {
    const open = ofDays.filter((problem) => problem.day === day);
    const runs = await ledger.runs.list({ day, limit: runsRead });
    const ended = open.filter((problem) => isOver(problem, runs, timezone));
    if (ended.length > 0) {
      const facts = { ended: [...new Set(ended.map(({ event }) => event))].join(' ') };
      const recovery: NewNotice = { event: 'day-recovered', subject: day, day, facts, raisedAt: now };
      await ledger.notices.end(ended, { at: now, recovery });
    }
    // A day that somebody gave up is late like any other, unless it is an exception.
    const isGivenUp = runs[0]?.cancelReason !== undefined;
    const left = open.filter((problem) => !ended.includes(problem));
    const dropped = left.filter((problem) =>
      problem.event === 'day-late' ? !found.some((one) => isSame(one, problem)) : isGivenUp,
    );
    await ledger.notices.dismiss(dropped, now);
  }
}

/** More runs of one day than anybody starts. */
const runsRead = 50;

/**
 * A run that completes no day ends its own problem once it succeeds. A good day is not late, and a run that succeeded
 * has not failed, however the clocks of two machines differ. Any other problem is ended only by a success after it.
 */
function isOver({ event, runId, raisedAt }: OpenProblem, runs: readonly Run[], timezone: string): boolean {
  return runs.some((run) => {
    if (run.state !== 'succeeded') return false;
    const isOwn = run.id === runId;
    if (!isOwn && event !== 'day-late' && (run.finishedAt ?? 0) < raisedAt) return false;
    return (isOwn && !mayCompleteDay(run)) || makesDayGood(run, timezone);
  });
}

/** A machine that has not measured its full disk for this long counts as gone, and so does a channel without a refusal. */
const goneAfterMs = 2 * dayMs;

async function endOthers(look: Look, found: readonly NewNotice[]): Promise<void> {
  const { ledger, problems, now } = look;
  const ended: OpenProblem[] = [];
  const gone: OpenProblem[] = [];
  for (const problem of problems) {
    const { event, lastToldAt } = problem;
    if (!isPartProblem(event) || found.some((one) => isSame(one, problem))) continue;
    if (await worksAgain[event](problem, look)) ended.push(problem);
    else if (isSeenOnlyThere(problem) && now - lastToldAt > goneAfterMs) gone.push(problem);
  }
  await ledger.notices.dismiss(gone, now);
  await ledger.notices.end(ended, { at: now });
}

/**
 * Decides about a problem that was not found just now. One that no check above looks for is over once something that
 * depends on the part has succeeded.
 */
const worksAgain: Readonly<
  Record<PartProblem, (problem: OpenProblem, look: Look) => Promise<boolean> | boolean>
> = {
  'copy-stale': () => true,
  // A newer request is no export.
  'export-missing': async (_, { ledger }) => (await findOpenRequest(ledger)) === undefined,
  'resource-low': ({ subject }, { disks }) => disks.some(({ place }) => place === subject),
  'sync-failing': async ({ subject, lastToldAt }, { ledger }) =>
    isAfter(lastToldAt, (await ledger.mappings.latestSync(subject))?.endedAt),
  'credentials-refused': ({ subject, lastToldAt }, { ledger }) =>
    isRefusingChannel(subject)
      ? hasSent(subject, lastToldAt, ledger)
      : acceptsAgain[subject as RefusingPeer](ledger, lastToldAt),
};

/** The request whose export was not fetched yet. */
async function findOpenRequest({ exports }: Ledger) {
  const request = await exports.latestRequest();
  return request && isAwaited(request, await exports.latestFetched()) ? request : undefined;
}

function isAfter(toldAt: number, at: number | undefined): boolean {
  return (at ?? 0) > toldAt;
}

/** Far more than are sent from one check to the next. */
const messagesRead = 1_000;

async function hasSent(subject: string, toldAt: number, { notices }: Ledger): Promise<boolean> {
  const messages = await notices.listMessages({ limit: messagesRead });
  return messages.some(
    ({ channel, state, endedAt }) =>
      toRefusingChannel(channel) === subject && state === 'sent' && isAfter(toldAt, endedAt),
  );
}

/** Whether something has succeeded since then that needs the account. */
const acceptsAgain: Readonly<Record<RefusingPeer, (ledger: Ledger, toldAt: number) => Promise<boolean>>> = {
  service: async (ledger, toldAt) =>
    isAfter(toldAt, (await ledger.mappings.latestSync())?.endedAt) ||
    hasSucceeded(ledger, toldAt, ({ counts }) => counts.delivered > 0),
  sftp: async (ledger, toldAt) =>
    isAfter(toldAt, (await ledger.exports.latestFetched())?.fetchedAt) ||
    hasSucceeded(ledger, toldAt, ({ file }) => file?.triggeredAt !== undefined),
  source: async ({ runs }, toldAt) =>
    (await runs.list({ limit: runsRead })).some(({ collectedAt }) => isAfter(toldAt, collectedAt)),
  queue: (ledger, toldAt) => hasSucceeded(ledger, toldAt, () => true),
  archive: (ledger, toldAt) => hasSucceeded(ledger, toldAt, ({ delivery }) => delivery === 'file'),
  mailbox: async ({ mails }, toldAt) => isAfter(toldAt, (await mails.describeMailbox()).readUntil),
};

async function hasSucceeded({ runs }: Ledger, toldAt: number, needsAccount: (run: Run) => boolean) {
  const newest = await runs.list({ limit: runsRead });
  return newest.some(
    (run) => run.state === 'succeeded' && isAfter(toldAt, run.finishedAt) && needsAccount(run),
  );
}

/** Of the cases that one look finds urgent, so many get a message each. */
const toldSingly = 20;

/** A guest is in house, checks in today or tomorrow, or nobody knows when. The most urgent first; for one case and check-in day always the same. */
export async function findUrgentCases(
  { ledger, timezone }: { readonly ledger: Ledger; readonly timezone: string },
  now: number,
): Promise<NewNotice[]> {
  const date = businessDayAt(new Date(now), timezone);
  const days = { today: date.iso, checkInBefore: date.next().next().iso };
  return (await ledger.cases.list(days))
    .filter(({ state, openBookings }) => openBookings > 0 && state !== 'dismissed')
    .flatMap((item) => describeUrgent(item, days, now))
    .sort((one, other) => (one.urgency < other.urgency ? -1 : Number(one.urgency > other.urgency)))
    .map(({ notice }) => notice);
}

/** Guests in house must not hide one who arrives next, and the other way round. */
function describeUrgent(
  item: CaseSummary,
  { today, checkInBefore }: { readonly today: string; readonly checkInBefore: string },
  now: number,
) {
  const { id, state, openBookings, hasUnknownCheckIn, nextCheckIn, inHouse } = item;
  const raise = (urgency: string, day: string, facts: NewNotice['facts']) => ({
    urgency,
    notice: {
      ...{ event: 'case-urgent', subject: `case ${id} on ${day}`, raisedAt: now },
      facts: { case: String(id), state, openBookings, ...facts },
    } satisfies NewNotice,
  });
  const { firstCheckIn: since = unknownDay, inHouseUntil: until = unknownDay } = item;
  const next = hasUnknownCheckIn ? undefined : nextCheckIn;
  const isNear = hasUnknownCheckIn || (nextCheckIn !== undefined && nextCheckIn < checkInBefore);
  const firstCheckIn = nextCheckIn ?? unknownDay;
  return [
    inHouse > 0 ? raise(`0${since}`, since, { inHouseSince: since, inHouseUntil: until }) : [],
    isNear ? raise(urgencyOf({ checkIn: next }, today), firstCheckIn, { firstCheckIn }) : [],
  ].flat();
}

const unknownDay = 'an unknown day';

/** Nobody reads hundreds of messages: of those that one look raised, one message tells how many there are besides the most urgent. */
export function tellUrgent(raised: readonly NewNotice[]): Told {
  const singly = raised.slice(0, toldSingly);
  const others = raised.slice(toldSingly);
  const [first] = others;
  if (!first) return { singly };
  const countCases = (notices: readonly NewNotice[]) => new Set(notices.map(({ facts }) => facts.case)).size;
  const together: NewNotice = {
    event: 'case-urgent',
    // The first of them is raised once, so no other message is about these.
    subject: `more from ${first.subject}`,
    facts: {
      cases: countCases(others),
      inHouse: countCases(others.filter(({ facts }) => facts.inHouseSince !== undefined)),
    },
    raisedAt: first.raisedAt,
  };
  return { singly, together };
}
