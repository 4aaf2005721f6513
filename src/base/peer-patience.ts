import { hasPassed } from './elapsed.js';

/**
 * Why a peer, such as the queue's server or the ledger's, can't be used:
 * - `refused`: it refuses our login, our certificate or our rights
 * - `unsuited`: it is not a server that we can use, such as a sentinel
 * - `read-only`: it takes no writes, as in the middle of a failover
 * - `passing`: it is away, starting or overloaded
 */
export type PeerFault = 'refused' | 'unsuited' | 'read-only' | 'passing';

/** Whether only a person can put it right: waiting won't. */
export function needsPerson(fault: PeerFault): fault is 'refused' | 'unsuited' {
  return fault === 'refused' || fault === 'unsuited';
}

/** How long a process bears with a peer that it could use before. */
const patienceMs = 5 * 60_000;

export type Patience = ReturnType<typeof createPatience>;

/** Decides what becomes of a process whose peer can't be used: the only place that does. */
export function createPatience(clock: () => number, hasWorked = false) {
  let works = hasWorked;
  let since: number | undefined;
  return {
    noteSuccess(): void {
      works = true;
      since = undefined;
    },
    /**
     * - `refuse`: the peer could never be used, and only a person can put that right
     * - `retry`: it may be over soon
     * - `give-up`: it has lasted too long; a process that stays up goes on trying
     */
    judge(fault: PeerFault): 'refuse' | 'retry' | 'give-up' {
      if (fault === 'passing') return 'retry';
      if (!works && needsPerson(fault)) return 'refuse';
      since ??= clock();
      return hasPassed(patienceMs, { since, now: clock() }) ? 'give-up' : 'retry';
    },
  };
}
