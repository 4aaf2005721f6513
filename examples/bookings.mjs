/**
 * A day's bookings from an API with one list per hotel, which `kind: http` cannot express.
 *
 * @type {import('hotel-review').Bookings}
 */
export async function* bookings(day, { signal, log, options }) {
  for (const hotel of options.hotels) {
    const url = new URL(`hotels/${encodeURIComponent(hotel)}/reservations`, options.baseUrl);
    url.searchParams.set('from', day.start.toISOString());
    url.searchParams.set('to', day.end.toISOString());
    const response = await fetch(url, { signal, headers: { authorization: `Bearer ${options.token}` } });
    // Any error fails the run before anything is sent, so half a day never passes for a whole one.
    if (!response.ok) throw new Error(`${hotel}: HTTP ${response.status}`);
    const reservations = await response.json();
    log.info(`${hotel}: ${reservations.length} bookings`);
    yield reservations.map(({ id, guest, room }) => ({
      ServiceId: room.masterId,
      BookingReferenceId: id,
      BookingClientName: guest.name,
      ProviderName: room.provider,
      ProviderHotelId: room.providerHotelId,
      CheckInDate: room.from,
      CheckOutDate: room.to,
    }));
  }
}
