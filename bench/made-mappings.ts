import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const providers = 40;
const rowsAtOnce = 5_000;

/** The fields of a generated mapping, by its number. */
export const providerOf = (number: number) => `Provider ${number % providers}`;
export const hotelIdOf = (number: number) => String(number).padStart(9, '0');
export const serviceIdOf = (number: number) => 100_000 + Math.floor(number / 3);

/** Writes mappings as the service's mapping file. (Spec 2.7.) */
export async function writeMappingFile(path: string, count: number): Promise<void> {
  await pipeline(Readable.from(rows(count)), createWriteStream(path));
}

function* rows(count: number): Generator<string> {
  yield 'ServiceId,ProviderHotelId,ProviderFamily,ModifiedOn,ChannelIds,ProviderLocationId\n';
  for (let first = 0; first < count; first += rowsAtOnce) {
    const lines = Array.from({ length: Math.min(rowsAtOnce, count - first) }, (_, index) => {
      const number = first + index;
      return `${serviceIdOf(number)},${hotelIdOf(number)},${providerOf(number)},2026-11-20T00:00:00Z,"B2C,Net;B2B,Package",L-${number % 5_000}\n`;
    });
    yield lines.join('');
  }
}
