import { describeSourceContract } from '../../contracts/source.js';
import { sendHalf, sendJson, useBookingsApi } from './bookings-api.js';
import { openHttpSource } from './open-source.js';

const pageSize = 4_000;
const token = 'token-that-nobody-sees';

// The tests of pages cover the other ways to ask for them.
describeSourceContract('http', async (days, breaks = false) => {
  const first = days[0]?.records ?? [];
  const breaksAfter = breaks ? first.length / 2 : Number.POSITIVE_INFINITY;
  let served = 0;
  const api = await useBookingsApi(({ url, headers }, response) => {
    if (headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
      return;
    }
    const from = url.searchParams.get('from');
    const { records = [] } = days.find(({ day }) => day.firstInstant.toISOString() === from) ?? {};
    const offset = Number(url.searchParams.get('page')) * pageSize;
    const page = { data: { bookings: records.slice(offset, offset + pageSize) } };
    if (offset >= breaksAfter) {
      sendHalf(response, page);
      return;
    }
    served += page.data.bookings.length;
    sendJson(response, page);
  });
  const source = openHttpSource({
    url: `${api.origin}/v1/bookings?from={dayStart}&to={dayEnd}&key=${token}&page=0`,
    headers: { Authorization: `Bearer ${token}` },
    records: 'data.bookings',
    pagination: { kind: 'page', parameter: 'page' },
    columns: {},
  });
  const places = first.map((_, index) => index + 1);
  return { source, places, secrets: [token], taken: () => served / first.length, held: () => api.open() };
});
