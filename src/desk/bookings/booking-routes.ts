import * as z from 'zod';
import { HttpError } from '../../server/http-error.js';
import { pageField, searchField } from '../fields.js';
import { type DeskRoute, defineDownload, definePage } from '../page.js';
import { renderBookingPage } from './booking-view.js';
import { type BookingData, type BookingParts, readBookingData } from './read-booking.js';

export interface BookingRouteParts extends BookingParts {
  /** The ZIP of `evidence`; undefined if no run has the booking. */
  packEvidence(reference: string, signal: AbortSignal): Promise<Uint8Array | undefined>;
}

/** Everything known about one booking, and the evidence to keep. */
export function createBookingRoutes(parts: BookingRouteParts): readonly DeskRoute[] {
  return [createBookingPage(parts), createEvidenceDownload(parts)];
}

function createBookingPage(parts: BookingParts): DeskRoute {
  return definePage({
    path: '/bookings',
    permission: 'see-bookings',
    input: z.object({ reference: searchField, answers: z.literal('yes').optional(), page: pageField }),
    json: 'if-asked',
    async read({ reference, answers, page }, visit): Promise<BookingData & { readonly page: number }> {
      const asked = { answers: answers === 'yes' };
      if (reference === undefined)
        return { reference: null, ...asked, isErased: false, bookings: [], mappings: [], page };
      return { ...(await readBookingData(parts, { reference, ...asked }, visit)), page };
    },
    audit({ reference, answers, bookings, canary }) {
      if (reference === null || canary) return undefined;
      const names = bookings.some(({ guest }) => guest?.state === 'shown');
      return {
        action: 'show',
        // Typed text that is not a known reference may be a name.
        subject: bookings.length > 0 ? reference : undefined,
        details: { found: bookings.length, answers, names },
        // The service's words may name guests, too.
        revealsNames: answers || names,
      };
    },
    render: ({ page, ...data }, visit) => renderBookingPage(data, visit, page),
  });
}

function createEvidenceDownload({ packEvidence }: Pick<BookingRouteParts, 'packEvidence'>): DeskRoute {
  return defineDownload({
    path: '/bookings/evidence',
    // It holds the guest's name.
    permission: 'see-names',
    input: z.object({ reference: z.string().min(1).max(500) }),
    contentType: 'application/zip',
    audit: ({ reference }) => ({ action: 'evidence', subject: reference }),
    async open({ reference }, { signal }) {
      const zip = await packEvidence(reference, signal);
      if (!zip) throw new HttpError(404, 'no run of this ledger has a booking with that reference');
      return { name: `evidence-${reference}.zip`, content: [zip] };
    },
  });
}
