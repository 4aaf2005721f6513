import { InvalidArgumentError } from 'commander';
import { showInLine } from '../../src/base/foreign-text.js';
import { formatCount, formatInstant } from '../../src/base/format.js';
import { renderTable } from '../../src/base/tables.js';
import { toExtraCells } from '../../src/booking/extra-values.js';
import { isInHouse } from '../../src/booking/stay.js';
import { type CaseRequest, performRequest } from '../../src/cases/case-requests.js';
import { describeCorrect } from '../../src/cases/case-words.js';
import { type ShownCase, showCase, shownCaseToJson } from '../../src/cases/shown-cases.js';
import { adviseLoad } from '../../src/mappings/copied-hotels.js';
import { describeMissing, renderPair } from '../../src/mappings/hotels/shown-hotels.js';
import type { RecordedAction } from '../../src/rules/action.js';
import { type Resolution, resolutions } from '../../src/rules/case.js';
import type { App } from '../app.js';
import { clock } from '../clock.js';
import { command, option } from '../command.js';

/** Bookings shown on a terminal; `--json` lists all. */
const shown = 200;

/** Shows a case, or changes it and then shows it. */
export default command({
  place: ['mappings', 1],
  summary: 'show a case, report, dismiss or reopen it, assign it, resolve its bookings',
  usage: '<id> [action...]',
  arguments: (id: string, [action, ...words]: readonly string[]) => ({ id, action, words }),
  options: {
    note: option('--note <text>', "a note about it; never write a guest's name here"),
    as: option('--as <outcome>', 'what was done for the guests, with resolve', { choices: resolutions }),
  },
  examples: `
Actions: report, dismiss, reopen, assign NAME, resolve REFERENCE... --as OUTCOME.
A booking without a reference is given by its number in the case: '#3'.

Examples:
  hotel-review case 17
  hotel-review case 17 report --note "ticket 4711"
  hotel-review case 17 assign Bea
  hotel-review case 17 resolve BR-1042 BR-1043 --as rebooked
  hotel-review case 17 dismiss --note "the hotel was renamed"`,

  read({ id, ...given }) {
    const request = readRequest(given);
    if (!/^\d{1,15}$/.test(id) || Number(id) === 0)
      throw new InvalidArgumentError(`expected the number of a case as \`cases\` lists it, got: ${id}`);
    return { id: Number(id), request };
  },

  async run(app, { id, request }) {
    const isThere = request.kind === 'show' || (await change(app, id, request));
    const ledger = await app.findLedger();
    if (isThere && !ledger) return app.answerNone({ id, case: null });
    const today = app.today();
    const labels = Object.keys(app.config.source.keep);
    const item = ledger && isThere ? await showCase(ledger, id, { today, now: clock(), labels }) : undefined;
    if (!ledger || !item)
      return app.answerNone(
        { id, case: null },
        `There is no case ${id}. To list them: ${app.command('cases')}`,
      );
    if (request.kind === 'show')
      await app.look({ action: 'case', subject: `case ${id}`, details: { found: item.bookings } });

    const hasHotels = (await ledger.hotels.latestLoad()) !== undefined;
    const { bookingList, history, openBookings: open } = item;
    const text = [
      describeMapping(item),
      hasHotels ? renderPair(item.hotels, item) : adviseLoad(app.command),
      `bookings: ${formatCount(open)} open of ${formatCount(item.bookings)}`,
      renderTable(
        bookingList.slice(0, shown).map((booking) => toRow(booking, today, labels)),
        ['booking', 'check-in', 'check-out', 'state', 'named', ...labels, 'note'],
      ),
      bookingList.length > shown &&
        `  … and ${formatCount(bookingList.length - shown)} more; --json lists all`,
      renderHistory(history),
      item.state === 'open' && `reported to the service? ${app.command(`case ${id} report`)}`,
      open > 0 && `a guest is helped? ${app.command(`case ${id} resolve REFERENCE --as rebooked`)}`,
    ];
    return app.answer(text, shownCaseToJson(item));
  },
});

/** False if there is no such case. */
async function change(app: App, id: number, request: CaseRequest): Promise<boolean> {
  // Creates no ledger: a new one can't hold the case.
  if (!(await app.findLedger())) return false;
  const { cases } = await app.ledger();
  return (await performRequest(cases, [id], request, { who: app.io.user, clock })).has(id);
}

function readRequest(given: {
  readonly action: string | undefined;
  readonly words: readonly string[];
  readonly note: string | undefined;
  readonly as: Resolution | undefined;
}): CaseRequest | { readonly kind: 'show' } {
  const { action, words, note, as } = given;
  if (note?.trim() === '') throw new InvalidArgumentError('--note is empty');
  if (as !== undefined && action !== 'resolve') throw new InvalidArgumentError('--as is for resolve only');
  const refuseWords = () => {
    if (words.length > 0)
      throw new InvalidArgumentError(`unexpected argument after ${action}: ${words.join(' ')}`);
  };
  switch (action) {
    case undefined:
      return note === undefined ? { kind: 'show' } : { kind: 'note', note };
    case 'dismiss':
      refuseWords();
      if (note === undefined)
        throw new InvalidArgumentError('dismiss needs --note: why the mapping is right after all');
      return { kind: action, note };
    case 'report':
    case 'reopen':
      refuseWords();
      return { kind: action, note };
    case 'assign': {
      const [assignee, ...others] = words;
      if (assignee === undefined || others.length > 0 || assignee.trim() === '')
        throw new InvalidArgumentError('assign takes one name; put quotes around one with spaces');
      return { kind: action, assignee: assignee.trim(), note };
    }
    case 'resolve':
      if (words.length === 0) throw new InvalidArgumentError('resolve takes the references of the bookings');
      if (as === undefined) throw new InvalidArgumentError(`resolve needs --as ${resolutions.join('|')}`);
      return { kind: action, bookings: words, as, note };
    default:
      throw new InvalidArgumentError(
        `unknown action ${action}: expected report, dismiss, reopen, assign or resolve`,
      );
  }
}

function describeMapping(item: ShownCase): string[] {
  const { id, providerName, providerHotelId, serviceId, state, origins, move, assignee, note } = item;
  return [
    `case ${id}: ${showInLine(providerName)} ${showInLine(providerHotelId)}, booked as ServiceId ${serviceId}`,
    `  mapping:  ${state} since ${formatInstant(item.stateSince)}; in the copy: ${describeCopy(item)}`,
    `  found by: ${origins.join(', ')}${move === undefined ? '' : ` (${move})`}, opened ${formatInstant(item.openedAt)}`,
    ...(assignee === undefined ? [] : [`  assigned: ${showInLine(assignee)}`]),
    ...(note === undefined ? [] : [`  note:     ${showInLine(note)}`]),
  ];
}

function describeCopy({ copyServiceId, copy, serviceId }: ShownCase): string {
  if (copyServiceId === null) return describeMissing(copy);
  return copyServiceId === serviceId ? 'the same' : `ServiceId ${copyServiceId}`;
}

function toRow(
  booking: ShownCase['bookingList'][number],
  today: string,
  labels: readonly string[],
): string[] {
  const { reference, place, checkIn = 'unknown', checkOut = 'unknown', resolved, isNamed, state } = booking;
  return [
    reference ?? `without a reference (#${place})`,
    checkIn,
    checkOut,
    resolved?.as ?? (isInHouse(booking, today) ? `${state}, in house` : state),
    isNamed ? 'yes' : 'no',
    ...toExtraCells(labels, booking.extraValues),
    resolved?.note ?? '',
  ];
}

function renderHistory(history: readonly RecordedAction[]): string[] {
  if (history.length === 0) return [];
  const rows = history.map(({ at, who, action, details = {} }) => {
    const what = describeCorrect(details) ?? action.replace(/^case-/, '');
    return [formatInstant(at), who, what];
  });
  return ['history:', renderTable(rows)];
}
