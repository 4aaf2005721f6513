import { describeSourceContract, type IntendedRecord, type SourceDriver } from '../../contracts/source.js';
import { type BookingsApi, sendHalf, sendJson, startBookingsApi } from './bookings-api.js';
import { openHttpSource } from './open-source.js';

const pageSize = 4_000;
const token = 'token-that-nobody-sees';

function createHttpDriver(): SourceDriver {
  const days = new Map<string, readonly IntendedRecord[]>();
  let api: BookingsApi | undefined;
  let served = 0;
  let breaksAfter = Number.POSITIVE_INFINITY;

  async function open(all: number) {
    api = await startBookingsApi(({ url, headers }, response) => {
      if (headers.authorization !== `Bearer ${token}`) {
        response.writeHead(401).end();
        return;
      }
      const records = days.get(url.searchParams.get('from') ?? '') ?? [];
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
    return { source, secrets: [token], taken: () => served / all, held: () => api?.open() ?? 0 };
  }
  return {
    async prepare(records, { firstInstant }) {
      days.set(firstInstant.toISOString(), records);
      return { ...(await open(records.length)), places: records.map((_, index) => index + 1) };
    },
    prepareBroken(records, day) {
      breaksAfter = records.length / 2;
      return this.prepare(records, day);
    },
    prepareDays(several) {
      for (const { day, records } of several) days.set(day.firstInstant.toISOString(), records);
      return open(1);
    },
    dispose: async () => api?.close(),
  };
}

// The tests of pages cover the other ways to ask for them.
describeSourceContract('http', createHttpDriver);
