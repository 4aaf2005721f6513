import { SafeError } from '../base/safe-error.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Action, AuditedAction } from '../rules/action.js';
import type { HeldCase, Resolution } from '../rules/case.js';
import { applyCommand, type CaseCommand, resolveBookings, toDecision } from '../rules/case-transitions.js';

/** A person's request, by command or on the desk. */
export type CaseRequest =
  | { readonly kind: CaseCommand; readonly note?: string | undefined }
  /** Without an assignee: nobody takes care of the case any more. */
  | { readonly kind: 'assign'; readonly assignee: string | undefined; readonly note?: string | undefined }
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
    const { next, acts } = applyRequest(held, request, at);
    const recorded = acts.map((act) => ({ who, at, ...act }));
    return toDecision(held, next, recorded);
  });
  return found;
}

const actions = {
  report: 'case-reported',
  dismiss: 'case-dismissed',
  reopen: 'case-reopened',
} as const satisfies Record<CaseCommand, AuditedAction>;

export function writeRefusal({ id, state }: { readonly id: number; readonly state: string }): string {
  return `case ${id} is ${state}: reopen it first`;
}

/** @throws CaseRefusedError */
function applyRequest(
  held: HeldCase,
  request: CaseRequest,
  at: number,
): { readonly next: HeldCase; readonly acts: readonly Action[] } {
  const { note = held.note } = request;
  switch (request.kind) {
    case 'note':
      return { next: { ...held, note }, acts: [{ action: 'case-noted' }] };
    case 'assign': {
      const { assignee } = request;
      return {
        next: { ...held, assignee, note },
        acts: [{ action: 'case-assigned', details: { assignee } }],
      };
    }
    case 'resolve': {
      const { bookings, as } = request;
      const action = 'case-resolved';
      const places = new Set(bookings.map((chosen) => findPlace(held, chosen)));
      // Under the reference too, where people look for a booking's history.
      const ofBookings = held.bookings.flatMap(({ place, reference: subject }) =>
        subject !== undefined && places.has(place)
          ? [{ action, subject, details: { as, case: held.id } } as const]
          : [],
      );
      return {
        next: resolveBookings(held, { places, as, note: request.note }, at),
        acts: [{ action, details: { as, bookings: places.size } }, ...ofBookings],
      };
    }
    default: {
      const next = applyCommand(held, request.kind, at);
      if (!next) throw new CaseRefusedError(writeRefusal(held));
      const noted = request.note === undefined ? next : { ...next, note };
      return { next: noted, acts: [{ action: actions[request.kind] }] };
    }
  }
}

function findPlace({ id, bookings }: HeldCase, chosen: ChosenBooking): number {
  const found =
    bookings.find(({ place, reference }) => place === chosen || reference === chosen) ??
    bookings.find(({ place, reference }) => reference === undefined && `#${place}` === chosen);
  if (found) return found.place;
  const name = typeof chosen === 'number' ? `#${chosen}` : chosen;
  throw new CaseRefusedError(`case ${id} has no booking ${name}; nothing was changed`);
}
