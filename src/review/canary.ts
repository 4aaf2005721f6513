import { formatDuration, formatInstant, formatLocalInstant, wrapText } from '../base/format.js';
import type { WriteCommand } from '../base/shell.js';
import type { Booking } from '../booking/booking.js';
import { createLineBuffer, renderLine } from '../booking/render-line.js';
import { type CanaryJson, canaryToJson } from '../ledger/canaries.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Canary, CanarySettings, NewCanary } from '../rules/canary.js';
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

export interface CanaryStyle {
  readonly command: WriteCommand;
  /** Of the account; instants are in UTC without it. */
  readonly timezone?: string | undefined;
}

/** What became of a canary, and what to do about it. */
export function describeCanary(canary: CanaryJson, { command, timezone }: CanaryStyle): string {
  const { state, reference, sentAt, dueAt, namedAt, code } = canary;
  const show = (written: string | null) =>
    timezone === undefined
      ? formatInstant(Date.parse(written ?? ''))
      : formatLocalInstant(Date.parse(written ?? ''), timezone);
  switch (state) {
    case 'unsent':
      return 'canary: not sent';
    case 'not-taken':
      return `canary: not taken by the service (${code}), so it shows nothing about this night. Has the service agreed to the pair in the setting canary?`;
    case 'waiting':
      return `canary: sent, not named yet; an e-mail is to name it by ${show(dueAt)}`;
    case 'named':
      return `canary: named by an e-mail of ${show(namedAt)}`;
    case 'missed':
      return `canary: NOT NAMED within ${formatDuration(Date.parse(dueAt ?? '') - Date.parse(sentAt ?? ''))}: the service reviews nothing, or its e-mails do not arrive. Ask the service whether it reviewed ${reference}, and look for e-mails that nobody has read: ${command('verdicts list --unknown')}`;
  }
}

interface TextStyle extends CanaryStyle {
  readonly now: number;
}

/** What happened to a canary, within 80 columns. */
export function renderCanary(canary: Canary, style: TextStyle): string[] {
  return wrapText(describeCanary(canaryToJson(canary, style.now), style));
}

/** The canaries of other runs that have just turned out not to be named in time. */
export function renderMissedCanaries(canaries: readonly Canary[], style: TextStyle): string {
  return canaries
    .map((canary) => `${canary.day}: run ${canary.runId}\n${renderCanary(canary, style).join('\n')}\n`)
    .join('');
}

/** What `show` says about the reference of a canary. */
export function renderShownCanary(canary: Canary, style: TextStyle): string {
  return [
    `${canary.reference}: the canary of run ${canary.runId} of ${canary.day}, no booking`,
    ...wrapText(
      'It was sent to see whether the service names an agreed, wrong pair. No count and no list has it.',
    ),
    ...renderCanary(canary, style),
    '',
  ].join('\n');
}
