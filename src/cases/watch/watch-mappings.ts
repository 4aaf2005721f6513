import type { CopyStanding } from '../../mappings/copied-hotels.js';
import { keyOfHotel, type MappingReader } from '../../mappings/mapping-copy.js';
import { readStaysAhead } from '../../review/stays/stays-ahead.js';
import type { StayAhead, StayLedger } from '../../review/stays.js';
import { type CaseKey, type CaseMove, keyOfCase } from '../case.js';
import type { CaseEvent } from '../case-events.js';
import type { CaseStore } from '../case-store.js';
import { classifyMove } from '../classify-move.js';
import { groupFindings } from '../findings.js';
import { openCases } from '../open-cases.js';
import type { MovedMapping, WatchStore } from '../watch-store.js';
import { dismissMerged } from './dismiss-merged.js';
import type { WatchCounts, WatchEvent } from './watch-events.js';

export interface WatchLedger extends StayLedger {
  readonly watch: WatchStore;
  readonly cases: CaseStore;
  readonly mappings: Pick<MappingReader, 'lookUp'>;
}

export interface WatchParts {
  readonly ledger: WatchLedger;
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  readonly clock: () => number;
  readonly notify: (event: WatchEvent | CaseEvent) => void;
}

/** Upcoming stays whose mapping is no longer as booked. */
export interface MoveFinding extends CaseKey {
  /** The master hotel in the copy now; null if the mapping was deleted. */
  readonly copyServiceId: number | null;
  readonly copy: CopyStanding;
  readonly move: CaseMove;
  /** The number of current and upcoming stays. */
  readonly bookings: number;
  /** Null for a merge, which opens no case. */
  readonly caseId: number | null;
}

export interface WatchReport {
  readonly counts: WatchCounts;
  readonly findings: readonly MoveFinding[];
}

/** Moves that are compared at once: finding the stays reads all runs, however few the hotels. */
const movesAtOnce = 10_000;
/** The most that `findByKeys` takes. */
const idsAtOnce = 1_000;

/**
 * Compares every mapping that moved, was deleted or came back since the last watch with the current and upcoming stays, and opens cases for
 * those in danger. The moves count as compared only once their cases are open: an interrupted watch looks again, and opening
 * a case again changes nothing.
 *
 * @throws the signal's reason when aborted
 */
export async function watchMappings(parts: WatchParts, signal: AbortSignal): Promise<WatchReport> {
  const { ledger, clock, notify } = parts;
  const findings: MoveFinding[] = [];
  let checkedMoves = 0;
  let dismissed = 0;
  for (;;) {
    signal.throwIfAborted();
    const moved = await ledger.watch.nextMoves(movesAtOnce);
    if (!moved) break;
    const found = await findMovedStays(parts, moved.mappings);
    dismissed += await dismissMerged(ledger, clock);
    findings.push(...(await openMovedCases(parts, found)));
    await ledger.watch.finishMoves(moved.upTo);
    checkedMoves += moved.moves;
    notify({ type: 'moves-checked', checkedMoves, findings: findings.length });
  }
  const endangered = findings.filter(({ move }) => move !== 'merged');
  const counts: WatchCounts = {
    checkedMoves,
    endangered: endangered.length,
    unmapped: endangered.filter(({ move }) => move === 'unmapped').length,
    bookings: endangered.reduce((sum, { bookings }) => sum + bookings, 0),
    merged: findings.length - endangered.length,
    dismissed,
  };
  notify({ type: 'mappings-watched', ...counts });
  return { counts, findings };
}

interface MovedStays extends CaseKey, Pick<MoveFinding, 'copyServiceId' | 'copy' | 'move'> {
  readonly movedAt: number;
  readonly stays: readonly StayAhead[];
}

/** The current and upcoming stays on these mappings that are no longer as booked, by booked master hotel. */
async function findMovedStays(
  { ledger, today, notify }: WatchParts,
  mappings: readonly MovedMapping[],
): Promise<readonly MovedStays[]> {
  const moved = new Map(mappings.map((mapping) => [keyOfHotel(mapping), mapping]));
  const changed = new Map<string, CaseKey & { readonly stays: StayAhead[] }>();
  const onRun = (runs: number, of: number) => notify({ type: 'searching-stays', runs, of });
  for await (const stays of readStaysAhead(ledger, mappings, { today, onRun }))
    for (const stay of stays) {
      const { providerName, providerHotelId, serviceId } = stay;
      if (moved.get(keyOfHotel(stay))?.copyServiceId === serviceId) continue;
      const key = keyOfCase(stay);
      const known = changed.get(key);
      if (known) known.stays.push(stay);
      else changed.set(key, { providerName, providerHotelId, serviceId, stays: [stay] });
    }
  const booked = [...new Set([...changed.values()].map(({ serviceId }) => serviceId))];
  const masters = await ledger.watch.readMasterHotels(booked);
  return [...changed.values()].flatMap((stays) => {
    const { copyServiceId, movedAt = 0 } = moved.get(keyOfHotel(stays)) ?? {};
    const move = classifyMove({ serviceId: stays.serviceId, copyServiceId }, masters.get(stays.serviceId));
    const copy: CopyStanding = copyServiceId === undefined ? 'unmapped' : 'mapped';
    return move ? [{ ...stays, copyServiceId: copyServiceId ?? null, copy, move, movedAt }] : [];
  });
}

async function openMovedCases(
  { ledger, today, clock, notify }: WatchParts,
  found: readonly MovedStays[],
): Promise<MoveFinding[]> {
  const endangered = found.filter(({ move }) => move !== 'merged');
  const findings = endangered.map(({ providerName, providerHotelId, serviceId, move, movedAt }) => ({
    ...{ providerName, providerHotelId, serviceId, move },
    ...{ origin: 'watch' as const, at: movedAt },
  }));
  const stays = new Map(endangered.map((one) => [keyOfCase(one), one.stays]));
  await openCases(await groupFindings(findings), { ledger, today, clock, notify, stays });
  const ids = new Map<MovedStays, number | undefined>();
  for (let first = 0; first < endangered.length; first += idsAtOnce) {
    const some = endangered.slice(first, first + idsAtOnce);
    const known = await ledger.cases.findByKeys(some);
    some.forEach((stays, index) => {
      ids.set(stays, known[index]?.id);
    });
  }
  return found.map((moved) => {
    const { movedAt: _, stays, ...finding } = moved;
    return { ...finding, bookings: stays.length, caseId: ids.get(moved) ?? null };
  });
}
