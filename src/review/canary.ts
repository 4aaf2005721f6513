import { formatLocalInstant } from '../base/format.js';
import type { Booking } from '../booking/booking.js';
import { createLineBuffer, renderLine } from '../booking/render-line.js';
import type { canaryToJson } from '../ledger/canaries.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Canary, CanarySettings, NewCanary } from '../rules/canary.js';
import type { Finding } from '../rules/finding.js';
import type { Notify } from './events.js';

const dayMs = 86_400_000;
/** A stay that is ahead, wherever the service is. */
const daysUntilCheckIn = 30;

/** A name that nobody takes for a guest's. */
const clientName = 'Canary Test';

const toDay = (instant: number) => new Date(instant).toISOString().slice(0, 10);

/** Makes the canary of a run. */
export function makeCanary(
  { serviceId, providerName, providerHotelId, withinMs }: CanarySettings,
  runId: string,
  now: number,
): NewCanary {
  const reference = `CANARY-${runId}`;
  const booking: Booking = {
    serviceId,
    bookingReferenceId: reference,
    bookingClientName: clientName,
    providerName,
    providerHotelId,
    checkInDate: toDay(now + daysUntilCheckIn * dayMs),
    checkOutDate: toDay(now + (daysUntilCheckIn + 1) * dayMs),
  };
  const line = createLineBuffer(0);
  renderLine(booking, line);
  return { reference, line: line.handOver().toString(), withinMs };
}

/** Reports the canaries that no e-mail named in time. Of all processes, the one that finds a canary reports it. */
export async function reportMissedCanaries(
  ledger: Ledger,
  now: number,
  notify: Notify,
): Promise<readonly Canary[]> {
  const missed = await ledger.canaries.reportMissed(now);
  for (const canary of missed) notify({ type: 'canary-missed', canary });
  return missed;
}

/** What became of a canary, and what to do about it. @param timezone the account's */
export function describeCanary(canary: ReturnType<typeof canaryToJson>, timezone: string): Finding {
  const { state, reference, dueAt, namedAt, code } = canary;
  const show = (written: string | null) => formatLocalInstant(Date.parse(written ?? ''), timezone);
  const note = (words: string): Finding => ({ code: 'canary', level: 'note', words: `canary: ${words}` });
  switch (state) {
    case 'unsent':
      return note('not sent');
    case 'not-taken':
      return note(
        `not taken by the service (${code}), so it shows nothing about this night. Has the service agreed to the pair in the setting canary?`,
      );
    case 'waiting':
      return note(`sent, not named yet; an e-mail is to name it by ${show(dueAt)}`);
    case 'named':
      return note(`named by an e-mail of ${show(namedAt)}`);
    case 'missed':
      return {
        ...{ code: 'canary', level: 'attention' },
        words: 'nothing named the canary: the service reviews nothing, or its e-mails do not arrive',
        advice: [
          [
            `ask the service whether it reviewed ${reference}, and look for e-mails that nobody has read`,
            'verdicts list --unknown',
          ],
        ],
      };
  }
}
