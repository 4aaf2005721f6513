import type { Booking } from '../../booking/booking.js';
import type { CanarySettings, NewCanary } from '../../ledger/canaries.js';
import type { Delivery } from '../delivery.js';
import { createLineBuffer } from '../line-buffer.js';

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
  { render }: Delivery,
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
  render(booking, 'body', line);
  return { reference, line: line.handOver().toString(), withinMs };
}
