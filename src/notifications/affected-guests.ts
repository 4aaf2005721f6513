import type { Booking } from '../booking/booking.js';
import { describeCheckIn, isInHouse, type StayDates, urgencyOf } from '../booking/stay.js';
import type { History } from '../review/history.js';
import type { BookingForm } from '../review/step.js';
import { readBooking } from '../review/stored/stored-line.js';
import { orderByKey } from '../review/verdicts/check-in-order.js';
import { showInLine } from '../text/visible.js';
import type { MailReader } from '../verdict-mails/mail-log.js';
import type { Notice } from './notice.js';

export interface GuestReaders extends Pick<History, 'nextJudged'> {
  readonly verdictMails: Pick<MailReader, 'readNamed'>;
}

/** More would be a list to work through, which `cases` and `affected` are for. */
const listed = 50;

/** A line with the guest for each of the most urgent bookings of an `affected-found`: only for those who may read names. */
export async function listGuests(
  { event, runId, facts }: Pick<Notice, 'event' | 'runId' | 'facts'>,
  ledger: GuestReaders,
  today: string,
): Promise<readonly string[]> {
  if (event !== 'affected-found') return [];
  async function* scan() {
    for await (const { line, form } of readAffected({ runId, mail: facts.mail }, ledger))
      yield [{ key: urgencyOf(readStay(readBooking(line, form)), today), line, form }];
  }
  const lines: string[] = [];
  const ordered = await orderByKey(scan, (item) => item);
  for await (const items of ordered.read({ from: 0, to: listed }))
    lines.push(...items.map(({ line, form }) => describeGuest(line, form, today)));
  return lines;
}

function readStay({ checkInDate, checkOutDate }: Booking): StayDates {
  return { checkIn: checkInDate, checkOut: checkOutDate };
}

async function* readAffected(
  { runId, mail }: { readonly runId: string | undefined; readonly mail: Notice['facts'][string] | undefined },
  ledger: GuestReaders,
): AsyncGenerator<{ readonly line: string; readonly form: BookingForm }, void, undefined> {
  if (runId === undefined) {
    yield* (await ledger.verdictMails.readNamed(Number(mail))).bookings;
    return;
  }
  let page = await ledger.nextJudged(runId, 'incorrect');
  while (page) {
    for (const line of page.lines) yield { line, form: 'file' };
    page = await ledger.nextJudged(runId, 'incorrect', page.batch);
  }
}

function describeGuest(line: string, form: BookingForm, today: string): string {
  const booking = readBooking(line, form);
  const { bookingReferenceId: reference = 'without reference', bookingClientName: guest = 'guest unknown' } =
    booking;
  const stay = readStay(booking);
  const when = isInHouse(stay, today)
    ? describeCheckIn(stay, today)
    : `check-in ${stay.checkIn ?? 'on an unknown day'}`;
  return showInLine(`- ${reference}: ${guest}, ${when}`);
}
