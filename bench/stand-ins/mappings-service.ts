import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Answers Get Mappings with the given number of generated mappings, in its own process. A page's key is the number of the
 * first mapping of the next page.
 */
const count = Number(process.argv[2]);

const hotelIdOf = (number: number) => String(number).padStart(9, '0');
const serviceIdOf = (number: number) => 100_000 + Math.floor(number / 3);
const providerOf = (number: number) => `Provider ${number % 40}`;

const server = createServer((request, response) => {
  const query = new URL(request.url ?? '', 'http://stand-in').searchParams;
  const first = Number(query.get('resumeKey') ?? 0);
  const end = Math.min(count, first + Number(query.get('limit') ?? 10));
  const mappings = Array.from({ length: end - first }, (_, index) => {
    const number = first + index;
    return {
      ServiceId: serviceIdOf(number),
      ProviderHotelId: hotelIdOf(number),
      ProviderName: providerOf(number),
      ProviderLocationCode: `L-${number % 5_000}`,
      Type: 'New',
      ChannelIds: ['B2C,Net', 'B2B,Package'],
    };
  });
  response.setHeader('Content-Type', 'application/json');
  response.end(
    JSON.stringify({
      ResumeKey: end < count ? String(end) : null,
      Mappings: mappings,
      Status: true,
      Message: 'Success',
      StatusCode: 2000,
    }),
  );
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => server.close().closeAllConnections());
