import { businessDayAt } from '../src/booking/business-day.js';
import { type HeldCase, stateOfBooking } from '../src/cases/case.js';
import { applyCommand, resolveBookings } from '../src/cases/case-commands.js';
import { type Act, toDecision } from '../src/cases/case-decision.js';
import type { ReadOnlyCaseLedger } from '../src/cases/case-store.js';
import { renderCase, toShownReport } from '../src/cli/cases.js';
import type { CaseRequest } from '../src/cli/commands/cases.js';
import { exitCode } from '../src/cli/exit-code.js';
import { readShownKept, type ShownKept } from '../src/cli/kept-columns.js';
import type { Config } from '../src/config/load.js';
import { unknownPair } from '../src/mappings/hotels/compare-hotels.js';
import type { RecordedAction } from '../src/review/audit.js';
import { SafeError } from '../src/text/safe-error.js';
import { readActions, recordLook } from './audit.js';
import { clock } from './clock.js';
import { findLedger, openLedger, withReadOnlyLedger } from './ledgers.js';
import { compareCases } from './list-cases.js';
import type { Terminal } from './terminal.js';

/** Shows a case, or changes it and then shows it. */
export async function changeCase(
  config: Config,
  id: number,
  request: CaseRequest,
  terminal: Terminal,
): Promise<number> {
  const shownKept = readShownKept(config.source.keep, request.kind === 'show' ? request.sort : undefined);
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { id, case: null });
    return exitCode.failed;
  };
  if (request.kind !== 'show' && !(await change(config, id, request, terminal.io.user)))
    return reportNone(`There is no case ${id}. To list them: ${terminal.command('cases')}`);
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const held = await ledger.cases.find(id);
    if (!held) return reportNone(`There is no case ${id}. To list them: ${terminal.command('cases')}`);
    const details = { found: held.bookings.length };
    if (request.kind === 'show')
      await recordLook(ledger, { action: 'case', subject: `case ${id}`, details }, terminal);
    await show(held, { config, ledger, shownKept, terminal });
    return exitCode.done;
  });
}

interface Showing {
  readonly config: Config;
  readonly ledger: ReadOnlyCaseLedger;
  readonly shownKept: ShownKept;
  readonly terminal: Terminal;
}

async function show(held: HeldCase, { config, ledger, shownKept, terminal }: Showing): Promise<void> {
  const today = businessDayAt(new Date(clock()), config.timezone).iso;
  const open = held.bookings.filter((booking) => stateOfBooking(booking, today) === 'open');
  const [firstCheckIn] = open.flatMap(({ checkIn }) => checkIn ?? []).sort();
  const [compared] = await compareCases(ledger, [{ ...held, ...(firstCheckIn && { firstCheckIn }) }]);
  const references = held.bookings.flatMap(({ reference }) => reference ?? []);
  const kept = shownKept.labels.length > 0 ? await ledger.findKeptValues(references) : undefined;
  const item = {
    ...held,
    ...(compared ?? { copyServiceId: null, hotels: unknownPair }),
    ...(kept && { kept }),
  };
  const hasHotels = (await ledger.hotels.latestLoad()) !== undefined;
  const history: RecordedAction[] = [];
  for await (const actions of readActions(ledger.audit, { subject: `case ${held.id}` }))
    history.push(...actions.filter(({ action }) => action !== 'case'));
  const { command } = terminal;
  terminal.answer(
    renderCase(item, { command, today, hasHotels, history, shownKept }),
    toShownReport(item, { today, history, shownKept }),
  );
}

type Change = Exclude<CaseRequest, { readonly kind: 'show' }>;

/** False if there is no such case. The audit trail records it in the same transaction. */
async function change(config: Config, id: number, request: Change, who: string): Promise<boolean> {
  // Creates no ledger for a case that can't be in it.
  const found = await findLedger(config);
  if (!found) return false;
  await found.close();
  const ledger = await openLedger(config);
  try {
    let isThere = false;
    await ledger.cases.changeById([id], (held) => {
      isThere = true;
      const at = clock();
      const next = decide(held, request, at);
      return toDecision(
        held,
        next,
        describeActs(request, held).map((act) => ({ who, at, ...act })),
      );
    });
    return isThere;
  } finally {
    await ledger.close();
  }
}

function decide(held: HeldCase, request: Change, at: number): HeldCase {
  switch (request.kind) {
    case 'note':
      return { ...held, note: request.note };
    case 'assign':
      return { ...held, assignee: request.assignee, ...noteOf(request) };
    case 'resolve': {
      const places = new Set(request.references.map((reference) => findPlace(held, reference)));
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

/** By its reference, or as #3 by its number in the case. */
function findPlace({ id, bookings }: HeldCase, reference: string): number {
  const byReference = bookings.find((booking) => booking.reference === reference);
  const byPlace = bookings.find(
    (booking) => booking.reference === undefined && `#${booking.place}` === reference,
  );
  const found = byReference ?? byPlace;
  if (!found) throw new CaseRefusedError(`case ${id} has no booking ${reference}; nothing was changed`);
  return found.place;
}

function describeActs(request: Change, held: HeldCase): Omit<Act, 'who' | 'at'>[] {
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
      const { as, references } = request;
      return [
        { action: 'case-resolved', details: { as, bookings: references.length } },
        // Under its reference too: where a booking's history is looked for.
        ...references
          .filter((reference) => held.bookings.some((booking) => booking.reference === reference))
          .map((subject) => ({ action: 'case-resolved' as const, subject, details: { as, case: held.id } })),
      ];
    }
  }
}

/** What was asked for is not possible with the case as it is. */
class CaseRefusedError extends SafeError {
  override readonly name = 'CaseRefusedError';
}
