import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFileDay } from './file-day.js';
import { type JsonService, startJsonService } from './stand-ins/start-json-service.js';

/** A day of bookings, the service for delivery by body, and a configuration with defaults. */
export interface BodyStage {
  readonly folder: string;
  readonly csv: string;
  readonly service: JsonService;
  /** The command line of `hotel-review` with that configuration. */
  command(...args: readonly string[]): string[];
  configure(settings: Readonly<Record<string, unknown>>): Promise<void>;
  close(): Promise<void>;
}

export const day = '2026-11-20';
const built = fileURLToPath(new URL('../dist/jobs/hotel-review.js', import.meta.url));

/** @param bookings number of accepted bookings; malformed records and duplicates are added */
export async function prepareBodyStage(bookings: number): Promise<BodyStage> {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-bench-'));
  const [csv, configuration] = [join(folder, 'bookings.csv'), join(folder, 'hotel-review.yaml')];
  const service = await startJsonService();
  await writeFileDay(csv, { day, bookings });
  const stage: BodyStage = {
    folder,
    csv,
    service,
    command: (...args) => [process.execPath, built, ...args, '--config', configuration],
    async configure(settings) {
      const api = { baseUrl: service.baseUrl, apiKey: 'bench', accountId: 'bench' };
      const source = { kind: 'csv', path: csv };
      await writeFile(configuration, JSON.stringify({ service: api, source, ...settings }));
    },
    async close() {
      await service.close();
      await rm(folder, { recursive: true });
    },
  };
  await stage.configure({});
  return stage;
}
