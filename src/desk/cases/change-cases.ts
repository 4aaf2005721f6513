import * as z from 'zod';
import {
  applyRequest,
  CaseRefusedError,
  type CaseRequest,
  performRequest,
} from '../../cases/case-requests.js';
import type { CaseSummary } from '../../ledger/case.js';
import { HttpError } from '../../server/http-error.js';
import { formatCount, formatCountOf } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { listField } from '../fields.js';
import { type ChangeAction, type DeskVisit, defineAction } from '../page.js';
import { writeAddress } from '../parts.js';
import { writeWho } from '../serve-pages.js';
import { filterFields } from './case-filter.js';
import { whatIsShown } from './cases-page.js';
import type { CaseDeskParts } from './cases-routes.js';
import { type BulkKind, bulkKinds } from './change-kinds.js';
import { showShortened } from './hotel-names.js';

const kinds = Object.keys(bulkKinds) as [BulkKind, ...BulkKind[]];
/** Limited, because other writers of cases wait meanwhile. */
const maxCases = 500;
/** Cases that get a line of their own. */
const casesNamed = 10;

const idField = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'expected the number of a case')
  .transform(Number);

/** Reports, assigns, notes, dismisses or reopens one or several cases: all of them, or none if one does not allow it. */
export function createCaseChange(parts: CaseDeskParts): ChangeAction {
  const { cases } = parts.ledger;

  async function findChosen(ids: readonly number[], visit: DeskVisit): Promise<readonly CaseSummary[]> {
    const { today } = whatIsShown(parts, visit);
    const found = ids.length === 0 ? [] : await cases.list({ state: 'all', ids, today });
    if (ids.length > 0 && found.length === 0) throw new HttpError(404, describeMissing(ids));
    return found;
  }

  return defineAction({
    path: '/cases/change',
    permission: 'work-cases',
    title: 'Change cases',
    input: z.object({
      do: z.enum(kinds),
      id: listField.pipe(z.array(idField).max(maxCases, `at most ${maxCases} cases at once`)).optional(),
      ...filterFields,
    }),
    form: z.object({ assignee: z.string().trim().max(100).optional() }),
    reason: 'optional',
    async preview({ do: kind, id: ids = [], ...filter }, visit) {
      const { button, meaning, needsNote } = bulkKinds[kind];
      const chosen = await findChosen(ids, visit);
      const all = formatCountOf(chosen.length, 'case');
      const refusal = chosen.length === 0 ? 'Choose at least one case first.' : refuse(kind, chosen, visit);
      return {
        title: chosen.length === 1 ? `${button} case ${chosen[0]?.id}` : `${button} ${all}`,
        lines: [meaning, ...describeChosen(chosen), ...describeNotes(chosen)],
        ...(refusal !== undefined && { refusal }),
        ...(kind === 'assign' && { fields: renderAssignee(visit) }),
        reason: { label: 'Note', isRequired: needsNote === true || kind === 'note' },
        button: `${button} ${all}`,
        back: chosen.length === 1 ? `/cases/${chosen[0]?.id}` : writeAddress('/cases', filter),
      };
    },
    async perform({ do: kind, id: ids = [], ...filter }, { assignee, reason }, visit) {
      if (ids.length === 0) throw new HttpError(400, 'id: choose at least one case');
      const request = toRequest(kind, { assignee, note: reason });
      const changing = { who: writeWho(visit.visitor), clock: () => visit.now };
      const found = await performRequest(cases, ids, request, changing);
      if (found.size === 0) throw new HttpError(404, describeMissing(ids));
      const missing = new Set(ids).size - found.size;
      const what = found.size === 1 ? `Case ${[...found][0]} is` : `${formatCount(found.size)} cases are`;
      const rest = missing === 0 ? '' : ` ${formatCountOf(missing, 'other')} no longer existed.`;
      return {
        message: `${what} ${bulkKinds[kind].done}${assignee && kind === 'assign' ? ` to ${assignee}` : ''}.${rest}`,
        next: found.size === 1 ? `/cases/${[...found][0]}` : writeAddress('/cases', filter),
      };
    },
  });
}

/** @throws HttpError 400 if something is missing */
function toRequest(
  kind: BulkKind,
  { assignee = '', note: given }: { readonly assignee?: string | undefined; readonly note: string },
): CaseRequest {
  const note = given === '' ? undefined : given;
  switch (kind) {
    case 'assign':
      if (assignee === '') throw new HttpError(400, 'assignee: say who takes the case');
      return { kind, assignee, note };
    case 'note':
      if (note === undefined) throw new HttpError(400, 'reason: write the note');
      return { kind, note };
    case 'dismiss':
      if (note === undefined) throw new HttpError(400, 'reason: say why the mapping is right after all');
      return { kind, note };
    case 'report':
    case 'reopen':
      return { kind, note };
  }
}

/** Why the change would be refused now. It is checked again when it is made. */
function refuse(kind: BulkKind, chosen: readonly CaseSummary[], { now }: DeskVisit): string | undefined {
  const sample = toRequest(kind, { assignee: 'somebody', note: 'something' });
  const refusals = chosen.flatMap((item) => {
    try {
      applyRequest({ ...item, bookings: [] }, sample, now);
      return [];
    } catch (error) {
      if (error instanceof CaseRefusedError) return [error.message];
      throw error;
    }
  });
  return refusals.length === 0 ? undefined : `Not possible: ${nameSome(refusals)}.`;
}

function nameSome(texts: readonly string[]): string {
  const more = texts.length - casesNamed;
  return [...texts.slice(0, casesNamed), ...(more > 0 ? [`${formatCount(more)} more`] : [])].join('; ');
}

function describeChosen(chosen: readonly CaseSummary[]): string[] {
  const named = chosen
    .slice(0, casesNamed)
    .map(({ id, providerName, providerHotelId, state, openBookings }) => {
      const hotel = `${showShortened(providerName, 60)} ${showShortened(providerHotelId, 40)}`;
      return `Case ${id}: ${hotel}, ${state}, ${formatCountOf(openBookings, 'open booking')}`;
    });
  const more = chosen.length - named.length;
  return more > 0 ? [...named, `… and ${formatCountOf(more, 'more case')}`] : named;
}

/** A case has only one note, so existing ones are replaced. */
function describeNotes(chosen: readonly CaseSummary[]): string[] {
  const noted = chosen.filter(({ note }) => note !== undefined);
  const [first] = noted;
  if (!first) return [];
  if (chosen.length > 1) return [`A new note replaces that of ${formatCountOf(noted.length, 'case')}.`];
  return [`A new note replaces this one: ${first.note}`];
}

function renderAssignee({ visitor }: DeskVisit): Html {
  return html`<label>Assign to<input name="assignee" value="${visitor.name}" maxlength="100" required></label>`;
}

function describeMissing(ids: readonly number[]): string {
  return ids.length === 1 ? `there is no case ${ids[0]}` : 'none of these cases exists';
}
