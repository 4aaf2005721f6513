import type { Ledger } from '../ledger/ledger.js';
import { SafeError } from '../text/safe-error.js';
import type { HeldCase, Resolution } from './case.js';
import { applyCommand, type CaseCommand, resolveBookings } from './case-commands.js';
import { type Act, toDecision } from './case-decision.js';

/** A person's request, by command or on the desk. */
export type CaseRequest =
  | { readonly kind: CaseCommand; readonly note?: string | undefined }
  | { readonly kind: 'assign'; readonly assignee: string; readonly note?: string | undefined }
  | { readonly kind: 'note'; readonly note: string }
  | {
      readonly kind: 'resolve';
      readonly bookings: readonly ChosenBooking[];
      readonly as: Resolution;
      readonly note?: string | undefined;
    };

/** A place, or what a person writes: the reference or, without one, `#3`. */
export type ChosenBooking = number | string;

/** The state of the case does not allow the request. */
export class CaseRefusedError extends SafeError {
  override readonly name = 'CaseRefusedError';
}

/**
 * Performs the request on all of these cases, or on none. The audit trail records it in the same transaction.
 *
 * @returns those that exist
 * @throws CaseRefusedError if the state of one of them does not allow it
 */
export async function performRequest(
  cases: Ledger['cases'],
  ids: readonly number[],
  request: CaseRequest,
  { who, clock }: { readonly who: string; readonly clock: () => number },
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  await cases.changeById(ids, (held) => {
    found.add(held.id);
    const at = clock();
    const acts = describeActs(request, held).map((act) => ({ who, at, ...act }));
    return toDecision(held, applyRequest(held, request, at), acts);
  });
  return found;
}

/** @throws CaseRefusedError */
export function applyRequest(held: HeldCase, request: CaseRequest, at: number): HeldCase {
  switch (request.kind) {
    case 'note':
      return { ...held, note: request.note };
    case 'assign':
      return { ...held, assignee: request.assignee, ...noteOf(request) };
    case 'resolve': {
      const places = new Set(request.bookings.map((chosen) => findPlace(held, chosen)));
      return resolveBookings(held, { places, as: request.as, ...noteOf(request) }, at);
    }
    case 'report':
    case 'dismiss':
    case 'reopen': {
      const next = applyCommand(held, request.kind, at);
      if (!next) throw new CaseRefusedError(`case ${held.id} is ${held.state}: reopen it first`);
      return request.note === undefined ? next : { ...next, note: request.note };
    }
  }
}

function noteOf({ note }: { readonly note?: string | undefined }): { readonly note?: string } {
  return note === undefined ? {} : { note };
}

function findPlace({ id, bookings }: HeldCase, chosen: ChosenBooking): number {
  const byPlace = bookings.find(({ place }) => place === chosen);
  const byReference = bookings.find(({ reference }) => reference !== undefined && reference === chosen);
  const byNumber = bookings.find(({ reference, place }) => reference === undefined && `#${place}` === chosen);
  const found = byPlace ?? byReference ?? byNumber;
  if (found) return found.place;
  const name = typeof chosen === 'number' ? `#${chosen}` : chosen;
  throw new CaseRefusedError(`case ${id} has no booking ${name}; nothing was changed`);
}

function describeActs(request: CaseRequest, held: HeldCase): Omit<Act, 'who' | 'at'>[] {
  switch (request.kind) {
    case 'note':
      return [{ action: 'case-noted' }];
    case 'assign':
      return [{ action: 'case-assigned', details: { assignee: request.assignee } }];
    case 'report':
      return [{ action: 'case-reported' }];
    case 'dismiss':
      return [{ action: 'case-dismissed' }];
    case 'reopen':
      return [{ action: 'case-reopened' }];
    case 'resolve': {
      const { as, bookings } = request;
      const places = new Set(bookings.map((chosen) => findPlace(held, chosen)));
      const references = held.bookings
        .filter(({ place }) => places.has(place))
        .flatMap(({ reference }) => reference ?? []);
      return [
        { action: 'case-resolved', details: { as, bookings: places.size } },
        // Under the reference too, where people look for a booking's history.
        ...references.map((subject) => ({
          action: 'case-resolved' as const,
          subject,
          details: { as, case: held.id },
        })),
      ];
    }
  }
}
