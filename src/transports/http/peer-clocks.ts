import { formatDuration } from '../../base/format.js';

/** With a larger difference, a run near midnight could take a different day than the service expects. */
const toleratedMs = 60_000;

/**
 * How far the clock of somebody who answered is ahead of ours, in milliseconds: the true value lies between the two, because an answer
 * takes time, and some clocks are exact to the second only.
 */
export interface ClockDifference {
  readonly least: number;
  readonly most: number;
}

/** When a call was sent and its answer arrived, by our clock. Epoch milliseconds. */
interface RoundTrip {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Whoever answers calls that are made anyway. */
export type Peer = 'service' | 'ledger' | 'archive' | 'source';

/** Learns from a peer's answers what time it is there. */
export interface PeerClock {
  /** Ours. */
  readonly clock: () => number;
  note(difference: ClockDifference | undefined): void;
}

/** The time in a `Date` header; undefined when it holds none. */
export function readDate(header: string | undefined): Date | undefined {
  const milliseconds = Date.parse(header ?? '');
  return Number.isNaN(milliseconds) ? undefined : new Date(milliseconds);
}

/**
 * What the headers of an answer say; undefined if they say nothing about now: a cache repeats the date of an answer that it has kept.
 */
export function readDifference(
  { date, age }: { readonly date?: string | undefined; readonly age?: string | undefined },
  trip: RoundTrip,
): ClockDifference | undefined {
  const second = readDate(date)?.getTime();
  return second === undefined || Number(age ?? 0) !== 0
    ? undefined
    : compareClocks({ from: second, to: second + 999 }, trip);
}

/** Undefined if our clock was set back during the call. @param peer what its clock showed */
export function compareClocks(
  peer: { readonly from: number; readonly to: number },
  { sentAt, receivedAt }: RoundTrip,
): ClockDifference | undefined {
  return receivedAt < sentAt ? undefined : { least: peer.from - receivedAt, most: peer.to - sentAt };
}

/** How far our clock is behind (or, below 0, ahead) at least; 0 if that is tolerable. */
export function findOffset({ least, most }: ClockDifference): number {
  if (least > toleratedMs) return least;
  return most < -toleratedMs ? most : 0;
}

/**
 * How far our clock is ahead, where the service and somebody else agree that it is, and otherwise 0. The smaller of their
 * differences counts. A clock that is behind takes no day too early.
 */
export function findAgreedLead(service: ClockDifference, others: readonly ClockDifference[]): number {
  const lead = -findOffset(service);
  const leads = others
    .filter((other) => other.least - service.most <= toleratedMs && service.least - other.most <= toleratedMs)
    .map((other) => Math.min(lead, -findOffset(other)));
  return Math.max(0, ...leads);
}

/** Undefined if the difference is tolerable. */
export function describeOffset(offset: number): string | undefined {
  if (offset === 0) return undefined;
  const direction = offset < 0 ? 'ahead of' : 'behind';
  return `the clock of this machine is ${formatDuration(Math.abs(offset))} ${direction} that of the service`;
}

export const clockAdvice = 'Set the clock, preferably with NTP: with a wrong clock, run takes the wrong day.';

/** What a process knows of its peers' clocks. */
export type PeerClocks = ReturnType<typeof createPeerClocks>;

/** @param warn called once for each difference from the service's clock, with `describeOffset` */
export function createPeerClocks(clock: () => number, warn: (message: string) => void) {
  const known = new Map<Peer, ClockDifference>();
  const collected = new Set<string>();
  let warnedOf = 0;

  function compareWithService(difference: ClockDifference): void {
    const offset = findOffset(difference);
    if (Math.abs(offset - warnedOf) <= toleratedMs) return;
    warnedOf = offset;
    const message = describeOffset(offset);
    if (message !== undefined) warn(`${message}. ${clockAdvice}`);
  }

  return {
    /** What that peer's answers are told to. */
    of: (peer: Peer): PeerClock => ({
      clock,
      note(difference) {
        if (!difference) return;
        known.set(peer, difference);
        if (peer === 'service') compareWithService(difference);
      },
    }),
    /** This process has collected the run: what is known of its clock says whether that was too early. */
    noteCollected: (runId: string): void => void collected.add(runId),
    /** See `findAgreedLead`; undefined for a run that another process has collected, and where the service has not answered. */
    findLead(runId: string): number | undefined {
      const service = known.get('service');
      if (!service || !collected.has(runId)) return undefined;
      const others = [...known.values()].filter((one) => one !== service);
      return findAgreedLead(service, others);
    },
  };
}
