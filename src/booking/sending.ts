import {
  type Booking,
  buildBooking,
  guestNameFields,
  listTexts,
  type ServiceField,
  textFields,
} from './booking.js';
import { readsAsNull } from './field-text.js';

export const guestNameChoices = ['send', 'omit'] as const;

/** Whether guests' names are sent and stored: the setting `guestNames`. The ledger keeps it for each run. */
export type GuestNames = (typeof guestNameChoices)[number];

/**
 * The form in which bookings can be compared whose names were written in different forms: without names if they were
 * left out of any of them.
 */
export function findComparableNames(today: GuestNames, others: readonly GuestNames[]): GuestNames {
  return [today, ...others].includes('omit') ? 'omit' : 'send';
}

/** The booking as it is sent and stored. */
export function writeNames(booking: Booking, names: GuestNames): Booking {
  if (names === 'send') return booking;
  const texts = listTexts(booking);
  return buildBooking(
    booking.serviceId,
    textFields.map(({ kind }, at) => (kind === 'guest-name' ? undefined : texts[at])),
  );
}

/** Where bookings of a run are stored, in batches that are numbered apart: those of its review file, and those that are posted. */
export const batchStreams = ['file', 'posted'] as const;
export type BatchStream = (typeof batchStreams)[number];

/** What happens to a booking that lacks a field: posted by body, rejected, or put into the file with an empty cell. */
export type IncompleteBookings = 'post' | 'reject' | 'leave-empty';

/** How a day's bookings are sent: all that reading them needs to know. Plain data, to be sent to another thread. */
export interface Sending {
  readonly kind: 'body' | 'file';
  /** Whether guests' names are sent and stored. Where they are not, the reference stands in their column of the file. */
  readonly names: GuestNames;
  /** Of a delivery by file; `post` by default. */
  readonly incomplete?: IncompleteBookings;
}

/** The stream of a booking, whose name is already left out if names are not sent; undefined for one that is not sent this way. */
export function streamOf(booking: Booking, sending: Sending): BatchStream | undefined {
  if (sending.kind === 'body') return 'posted';
  if (listFileObstacles(booking, sending).length === 0) return 'file';
  return sending.incomplete === 'reject' ? undefined : 'posted';
}

/** The stream of a booking without words that read as null, and whether that includes one that lacks fields. */
export function usualStream(sending: Sending): {
  readonly stream: BatchStream;
  readonly mayLackFields: boolean;
} {
  return sending.kind === 'body'
    ? { stream: 'posted', mayLackFields: true }
    : { stream: 'file', mayLackFields: sending.incomplete === 'leave-empty' };
}

/** Why a booking can't be in the review file. It is posted by body or rejected. (Spec 4.3.) */
export interface FileObstacle {
  readonly field: ServiceField;
  readonly reason: 'missing' | 'reads-as-null';
}

/**
 * The fields that keep a booking out of the review file, where no cell may read as null, nor be blank unless `leave-empty` is set. Where
 * names are left out, none is missing: what is wrong with the reference in their place is said of the reference.
 */
export function listFileObstacles(
  booking: Booking,
  { names, incomplete }: Omit<Sending, 'kind'>,
): FileObstacle[] {
  const texts = listTexts(booking);
  return textFields.flatMap(({ name: field, kind }, at): FileObstacle[] => {
    if (kind === 'guest-name' && names === 'omit') return [];
    const text = texts[at];
    if (text === undefined) return incomplete === 'leave-empty' ? [] : [{ field, reason: 'missing' }];
    return readsAsNull(text) ? [{ field, reason: 'reads-as-null' }] : [];
  });
}

/**
 * A reason why a booking was kept out of the review file, whatever `incomplete` was: a field that reads as null rather than
 * a missing one, which `leave-empty` permits, and any field rather than the guest's name, which may have been blanked since.
 */
export function explainPosted(booking: Booking): FileObstacle | undefined {
  const obstacles = listFileObstacles(booking, { names: 'send' });
  return (
    obstacles.find(({ reason }) => reason === 'reads-as-null') ??
    obstacles.find(({ field }) => !guestNameFields.has(field)) ??
    obstacles[0]
  );
}
