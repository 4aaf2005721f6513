import type { History } from '../review/history.js';
import type { BookingForm } from '../review/step.js';
import { readBooking } from '../review/stored/stored-line.js';
import { showInLine } from '../text/visible.js';
import type { MailReader } from '../verdict-mails/mail-log.js';
import type { Notice } from './notice.js';

export interface GuestReaders extends Pick<History, 'nextJudged'> {
  readonly verdictMails: Pick<MailReader, 'readNamed'>;
}

/** More would be a list to work through, which `cases` and `affected` are for. */
const listed = 50;

/** A line with the guest for each of the first bookings of an `affected-found`: only for those who may read names. */
export async function listGuests(
  { event, runId, facts }: Pick<Notice, 'event' | 'runId' | 'facts'>,
  ledger: GuestReaders,
): Promise<readonly string[]> {
  if (event !== 'affected-found') return [];
  const lines: string[] = [];
  for await (const { line, form } of readAffected({ runId, mail: facts.mail }, ledger)) {
    lines.push(describeGuest(line, form));
    if (lines.length === listed) break;
  }
  return lines;
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

function describeGuest(line: string, form: BookingForm): string {
  const { bookingReferenceId, bookingClientName, checkInDate } = readBooking(line, form);
  const { reference, guest, checkIn } = {
    reference: bookingReferenceId ?? 'without reference',
    guest: bookingClientName ?? 'guest unknown',
    checkIn: checkInDate ?? 'on an unknown day',
  };
  return showInLine(`- ${reference}: ${guest}, check-in ${checkIn}`);
}
