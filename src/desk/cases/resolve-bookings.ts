import * as z from 'zod';
import { urgencyOf } from '../../booking/stay.js';
import { performRequest } from '../../cases/case-requests.js';
import { type CaseBooking, type HeldCase, resolutions, stateOfBooking } from '../../ledger/case.js';
import { HttpError } from '../../server/http-error.js';
import { showInLine } from '../../text/foreign-text.js';
import { formatCountOf } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { listField } from '../fields.js';
import { type ChangeAction, defineAction } from '../page.js';
import { writeWho } from '../serve-pages.js';
import { findShownCase } from './case-page.js';
import { whatIsShown } from './cases-page.js';
import type { CaseDeskParts } from './cases-routes.js';

/** Bookings listed here; those of a larger case are chosen on its own page. */
const maxListed = 200;

const places = listField.pipe(
  z
    .array(
      z
        .string()
        .regex(/^[1-9]\d{0,8}$/, 'expected the number of a booking in its case')
        .transform(Number),
    )
    .max(1_000),
);

/** Says what was done for the guests of some bookings of a case. */
export function createBookingResolution(parts: CaseDeskParts): ChangeAction {
  const { cases } = parts.ledger;
  return defineAction({
    path: '/cases/:id/resolve',
    permission: 'work-cases',
    title: 'Resolve bookings',
    input: z.object({
      id: z.string(),
      /** Chosen beforehand: the numbers of bookings in the case. */
      booking: places.optional(),
    }),
    form: z.object({
      booking: places.optional(),
      as: z.enum(resolutions, { error: 'choose what was done for the guests' }),
    }),
    reason: 'optional',
    async preview({ id, booking: chosen = [] }, visit) {
      const held = await findShownCase(cases, id);
      const { today } = whatIsShown(parts, visit);
      const listed = listOpen(held, new Set(chosen), today);
      return {
        title: `Resolve bookings of case ${held.id}`,
        lines: [
          'A corrected mapping does not help a guest who has booked already. Say what was done for these guests.',
        ],
        ...(listed.length === 0 && { refusal: 'No booking of this case is open.' }),
        fields: renderFields(listed.slice(0, maxListed), new Set(chosen), listed.length),
        reason: { label: 'Note', isRequired: false },
        button: 'Resolve the chosen bookings',
        back: `/cases/${held.id}`,
      };
    },
    async perform({ id }, { booking: chosen = [], as, reason }, visit) {
      const bookings = [...new Set(chosen)];
      if (bookings.length === 0) throw new HttpError(400, 'booking: choose at least one');
      const { id: number } = await findShownCase(cases, id);
      const request = { kind: 'resolve', bookings, as, ...(reason !== '' && { note: reason }) } as const;
      const changing = { who: writeWho(visit.visitor), clock: () => visit.now };
      const found = await performRequest(cases, [number], request, changing);
      if (found.size === 0) throw new HttpError(404, `there is no case ${number}`);
      const verb = bookings.length === 1 ? 'is' : 'are';
      return {
        message: `${formatCountOf(bookings.length, 'booking')} of case ${number} ${verb} ${as}.`,
        next: `/cases/${number}`,
      };
    },
  });
}

/** The open ones, guests in house first, and whatever was chosen beforehand. */
function listOpen(held: HeldCase, chosen: ReadonlySet<number>, today: string): readonly CaseBooking[] {
  return held.bookings
    .filter((booking) => chosen.has(booking.place) || stateOfBooking(booking, today) === 'open')
    .map((booking) => ({ booking, key: urgencyOf(booking, today) }))
    .toSorted(({ key: one }, { key: other }) => (one < other ? -1 : one > other ? 1 : 0))
    .map(({ booking }) => booking);
}

function renderFields(listed: readonly CaseBooking[], chosen: ReadonlySet<number>, total: number): Html {
  const more = total - listed.length;
  return html`<fieldset class="card"><legend>Bookings</legend>${listed.map((booking) =>
    renderBooking(booking, chosen.has(booking.place) || total === 1),
  )}${more > 0 ? html`<p class="faint">${formatCountOf(more, 'more booking')} on the page of the case: choose them there.</p>` : undefined}</fieldset>
<fieldset class="card"><legend>What was done</legend>${resolutions.map(
    (as) =>
      html`<label class="option"><input type="radio" name="as" value="${as}" required>${describeResolution(as)}</label>`,
  )}</fieldset>`;
}

function renderBooking({ place, reference, checkIn, checkOut }: CaseBooking, isChosen: boolean): Html {
  const name = reference === undefined ? `without a reference (#${place})` : showInLine(reference);
  return html`<label class="option"><input type="checkbox" name="booking" value="${place}"${isChosen ? html` checked` : undefined}>${name} <span class="faint">${checkIn ?? 'unknown'} to ${checkOut ?? 'unknown'}</span></label>`;
}

function describeResolution(as: (typeof resolutions)[number]): string {
  switch (as) {
    case 'rebooked':
      return 'rebooked: the guest has another hotel or another booking';
    case 'confirmed':
      return 'confirmed: the guest can stay where the booking leads';
    case 'cancelled':
      return 'cancelled: the booking no longer exists';
  }
}
