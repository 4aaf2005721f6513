import * as z from 'zod';
import { showInLine } from '../base/foreign-text.js';
import { formatCount, formatCountOf } from '../base/format.js';
import { html } from '../base/html.js';
import { type CaseRequest, performRequest, writeRefusal } from '../cases/case-requests.js';
import { showCase } from '../cases/shown-cases.js';
import type { CaseSummary } from '../ledger/cases.js';
import { resolutions } from '../rules/case.js';
import { applyCommand } from '../rules/case-transitions.js';
import { type BulkKind, brief, bulkKinds, filterSchema, labelsFor } from './cases-page.js';
import { listField, numberField } from './fields.js';
import { type DeskVisit, defineAction } from './page.js';
import { writeAddress } from './parts.js';
import { see } from './see.js';
import { writeWho } from './serve-pages.js';
import { HttpError } from './server/http-error.js';

const kinds = Object.keys(bulkKinds) as [BulkKind, ...BulkKind[]];
/** Limited, because other writers of cases wait meanwhile. */
const maxCases = 500;
/** Cases that get a line of their own. */
const casesNamed = 10;

const caseNumberField = numberField(15, 'expected the number of a case');
/** In a path: 0, which no case has, for whatever is not the number of one. */
export const caseField = caseNumberField.catch(0);

const changeInput = filterSchema.extend({
  do: z.enum(kinds),
  id: listField.pipe(z.array(caseNumberField).max(maxCases, `at most ${maxCases} cases at once`)).optional(),
  /** Of the list, if the cases were chosen there. */
  page: z.coerce.number().int().positive().max(999_999).optional(),
});

/** Reports, assigns, notes, dismisses or reopens one or several cases: all of them, or none if one does not allow it. */
export const caseChange = defineAction({
  path: '/cases/change',
  permission: 'work-cases',
  title: 'Change cases',
  input: changeInput,
  form: z.object({ assignee: z.string().trim().max(100).optional() }),
  reason: 'optional',
  async preview(change, visit) {
    const { do: kind, id: ids = [] } = change;
    const { button, meaning, needsNote } = bulkKinds[kind];
    const { cases } = visit.desk.ledger;
    const found = ids.length === 0 ? [] : await cases.list({ state: 'all', ids, today: visit.today });
    if (ids.length > 0 && found.length === 0) throw new HttpError(404, describeMissing(ids));
    const chosen = see(found, visit);
    const chosenIds = chosen.map(({ id }) => id);
    const all = formatCountOf(chosen.length, 'case');
    const assignee = html`<label>Assign to (nobody, if empty)<input name="assignee" value="${visit.visitor.name}" maxlength="100"></label>`;
    return {
      title: chosen.length === 1 ? `${button} case ${chosen[0]?.id}` : `${button} ${all}`,
      lines: [meaning, ...describeChosen(chosen), ...describeNotes(chosen)],
      refusal: refuse(kind, chosen, visit),
      fields: kind === 'assign' ? assignee : undefined,
      reason: { label: 'Note', isRequired: needsNote !== undefined },
      button: `${button} ${all}`,
      back: leadBack(change, chosenIds),
    };
  },
  async perform(change, { assignee, reason }, visit) {
    const { do: kind, id: ids = [] } = change;
    if (ids.length === 0) throw new HttpError(400, 'id: choose at least one case');
    const found = await perform(ids, toRequest(kind, assignee, reason), visit);
    const missing = new Set(ids).size - found.length;
    const what = found.length === 1 ? `Case ${found[0]} is` : `${formatCount(found.length)} cases are`;
    const to = kind === 'assign' ? ` to ${assignee || 'nobody'}` : '';
    const rest = missing === 0 ? '' : ` ${formatCountOf(missing, 'other')} no longer existed.`;
    return { message: `${what} ${bulkKinds[kind].done}${to}.${rest}`, next: leadBack(change, found) };
  },
});

/** To the list as it was, if the cases were chosen there. */
function leadBack(change: z.output<typeof changeInput>, ids: readonly number[]): string {
  const { do: _, id: __, page, ...filter } = change;
  const isFromList = page !== undefined || Object.values(filter).some((value) => value !== undefined);
  if (ids.length === 1 && !isFromList) return `/cases/${ids[0]}`;
  return writeAddress('/cases', { ...filter, page: page === 1 ? undefined : page });
}

/** @throws HttpError 404 if there is no such case */
async function perform(ids: readonly number[], request: CaseRequest, { desk, now, visitor }: DeskVisit) {
  const changing = { who: writeWho(visitor), clock: () => now };
  const found = await performRequest(desk.ledger.cases, ids, request, changing);
  if (found.size === 0) throw new HttpError(404, describeMissing(ids));
  return [...found];
}

/** @throws HttpError 400 if something is missing */
function toRequest(kind: BulkKind, assignee: string | undefined, note: string): CaseRequest {
  const { needsNote } = bulkKinds[kind];
  if (needsNote !== undefined && note === '') throw new HttpError(400, `reason: ${needsNote}`);
  if (kind === 'note') return { kind, note };
  if (kind !== 'assign') return { kind, note: note || undefined };
  if (assignee === undefined) throw new HttpError(400, 'assignee: say who takes the case; if empty, nobody');
  return { kind, assignee: assignee || undefined, note: note || undefined };
}

/** Why the change would be refused now. It is checked again when it is made. */
function refuse(kind: BulkKind, chosen: readonly CaseSummary[], { now }: DeskVisit): string | undefined {
  if (chosen.length === 0) return 'Choose at least one case first.';
  if (kind === 'assign' || kind === 'note') return undefined;
  const refused = chosen.filter((item) => !applyCommand({ ...item, bookings: [] }, kind, now));
  return refused.length === 0
    ? undefined
    : `Not possible: ${nameSome(refused.map(writeRefusal)).join('; ')}.`;
}

/** The first of a list, and how many more there are. */
function nameSome(texts: readonly string[]): readonly string[] {
  const more = texts.length - casesNamed;
  return more > 0 ? [...texts.slice(0, casesNamed), `… and ${formatCountOf(more, 'more case')}`] : texts;
}

function describeChosen(chosen: readonly CaseSummary[]): readonly string[] {
  return nameSome(
    chosen.map(({ id, providerName, providerHotelId, state, openBookings }) => {
      const hotel = `${brief(providerName, 60)} ${brief(providerHotelId, 40)}`;
      return `Case ${id}: ${hotel}, ${state}, ${formatCountOf(openBookings, 'open booking')}`;
    }),
  );
}

/** A case has only one note, so existing ones are replaced. */
function describeNotes(chosen: readonly CaseSummary[]): string[] {
  const notes = chosen.flatMap(({ note }) => note ?? []);
  if (notes.length === 0) return [];
  if (chosen.length > 1) return [`A new note replaces that of ${formatCountOf(notes.length, 'case')}.`];
  return [`A new note replaces this one: ${showInLine(notes[0] ?? '')}`];
}

function describeMissing(ids: readonly number[]): string {
  return ids.length === 1 ? `there is no case ${ids[0]}` : 'none of these cases exists';
}

/** Says what was done for the guests of some bookings of a case. The page of the case has the form. */
export const bookingResolution = defineAction({
  path: '/cases/:id/resolve',
  permission: 'work-cases',
  title: 'Resolve bookings',
  input: z.object({ id: caseField }),
  form: z.object({
    /** Their numbers in the case. */
    booking: listField
      .pipe(z.array(numberField(9, 'expected the number of a booking in its case')).max(1_000))
      .optional(),
    as: z.enum(resolutions, { error: 'choose what was done for the guests' }),
  }),
  reason: 'optional',
  async preview({ id }, visit) {
    await findShownCase(id, visit);
    return {
      title: `Resolve bookings of case ${id}`,
      lines: [],
      refusal: 'Choose the bookings on the page of the case.',
      button: 'Resolve the chosen bookings',
      back: `/cases/${id}`,
    };
  },
  async perform({ id }, { booking: chosen = [], as, reason }, visit) {
    const bookings = [...new Set(chosen)];
    if (bookings.length === 0) throw new HttpError(400, 'booking: choose at least one');
    await perform([id], { kind: 'resolve', bookings, as, ...(reason !== '' && { note: reason }) }, visit);
    const what = `${formatCountOf(bookings.length, 'booking')} of case ${id}`;
    return { message: `${what} ${bookings.length === 1 ? 'is' : 'are'} ${as}.`, next: `/cases/${id}` };
  },
});

/** @throws HttpError 404 */
export async function findShownCase(id: number, visit: DeskVisit) {
  const { desk, now, today } = visit;
  const item = await showCase(desk.ledger, id, { today, now, labels: labelsFor(visit) });
  if (!item) throw new HttpError(404, 'there is no case of that number');
  return item;
}
