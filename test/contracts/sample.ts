import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { SourceSettings } from '../../jobs/sources.js';
import type { PeerFault } from '../../src/base/peer-patience.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { parseConfig } from '../../src/config/parse.js';
import { kindOf, openSource } from '../../src/sources/registry.js';
import type { Settings } from '../support/day-folder.js';
import { patienceMs } from '../support/patience.js';
import { openTestParts } from '../support/source-parts.js';

export const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
/** Neither may be in an error. */
export const guest = 'Canaria Zwitscherfink';
export const secret = 'canary-token-77aa';
/** What the settings of a source below say of its columns. */
export const columns = {
  ServiceId: 'hotel',
  BookingClientName: 'guest',
  ...{ BookingReferenceId: false, ProviderName: false, ProviderHotelId: false },
  ...{ CheckInDate: false, CheckOutDate: false },
};

/** A source of any number of bookings, each with the columns `hotel` and `guest`: 7, 8, … and the guest. */
export interface SampledSource {
  readonly settings: SourceSettings;
  /** How many connections or files are open. */
  readonly held?: () => number | Promise<number>;
  /** How many records were read or sent. */
  readonly taken?: () => number;
}

export interface SampleDriver {
  place(records: number): Promise<SampledSource>;
  /** One that answers in each of these ways, none of which is a day, and the fault, and that of the server, in the error. */
  readonly broken: Readonly<
    Record<string, readonly [fault: string, place: () => Promise<SourceSettings>, peer?: PeerFault]>
  >;
  /** One that never answers, and when it was asked. */
  placeSilent?(): Promise<SampledSource & { readonly asked: () => boolean | Promise<boolean> }>;
}

/** As in a configuration. */
export function settingsOf(source: Settings, env: NodeJS.ProcessEnv = {}): SourceSettings {
  const service = { baseUrl: 'https://service.example.com/api/3.0', apiKey: 'k', accountId: 'a' };
  const retry = { baseSeconds: 0.01, capSeconds: 0.05, tries: 2 };
  const text = JSON.stringify({ timezone: 'Europe/Madrid', service, source, retry });
  return parseConfig({ text, file: '/srv/hotel-review.yaml', env });
}

export async function takeSample(settings: SourceSettings, signal = new AbortController().signal) {
  const sample = await kindOf(settings.source).openSample(settings.source, openTestParts(settings));
  const { columns, records } = await sample(day, signal);
  return { columns, records: records.map((record) => Object.fromEntries(record)) };
}

async function readWhole(settings: SourceSettings): Promise<void> {
  const source = await openSource(settings.source, openTestParts(settings));
  for await (const _ of source.read(day, { signal: new AbortController().signal }));
}

const failureOf = (reading: Promise<unknown>) =>
  reading.then(
    () => 'no failure',
    (error: unknown) => error,
  );

const waiting = { timeout: patienceMs, interval: 20 };

/** The contract of every source's sample: what `doctor`, `init` and a dry run look at. */
export function describeSampleContract(name: string, driver: SampleDriver): void {
  describe(`the sample of ${name}`, () => {
    afterEach(() => void vi.restoreAllMocks());

    const expectReleased = async ({ held }: SampledSource) =>
      held && vi.waitUntil(async () => (await held()) === 0, waiting);

    it('has no more than 500 records, and reads little more', async () => {
      const placed = await driver.place(200_000);
      const { records } = await takeSample(placed.settings);
      expect([records.length, records.at(-1)]).toEqual([500, { hotel: '506', guest }]);
      await expectReleased(placed);
      expect(placed.taken?.() ?? 0).toBeLessThan(100_000);
    });

    it.each(Object.entries(driver.broken))(
      'fails like reading the day, and reveals nothing: %s',
      async (_, [fault, place, peer]) => {
        vi.spyOn(process.stderr, 'write').mockReturnValue(true);
        const settings = await place();
        const failure = await failureOf(takeSample(settings));
        expect(failure).toMatchObject({ name: 'SourceError', fault, peer });
        expect(failure).toEqual(await failureOf(readWhole(settings)));
        for (const kept of [guest, secret]) expect(inspect(failure, { depth: 8 })).not.toContain(kept);
      },
    );

    const { placeSilent } = driver;
    if (placeSilent === undefined) return;
    it('stops when aborted while nothing answers, and leaves nothing open', async () => {
      const placed = await placeSilent();
      const stopping = new AbortController();
      const reason = new Error('stopped by hand');
      const outcome = failureOf(takeSample(placed.settings, stopping.signal));
      await vi.waitUntil(() => placed.asked(), waiting);
      stopping.abort(reason);
      expect(await outcome).toBe(reason);
      await expectReleased(placed);
    });
  });
}
