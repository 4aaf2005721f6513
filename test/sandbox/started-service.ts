import { expect } from 'vitest';
import { createFaultPlan, parseFault } from '../../src/sandbox/common/faults.js';
import { createSeededRandom } from '../../src/sandbox/common/random.js';
import type { FileReview } from '../../src/sandbox/file-review/file-review.js';
import type { BookedHotel } from '../../src/sandbox/outbox/outbox.js';
import { type SandboxService, startService } from '../../src/sandbox/service/service.js';
import { createWorld, type Mapping } from '../../src/sandbox/world/world.js';

export const account = { apiKey: 'key-1', accountId: 'account-1' };
export const accountHeaders = { apikey: account.apiKey, accountId: account.accountId };
export const jsonHeaders = { ...accountHeaders, 'Content-Type': 'application/json' };
export const byBody = '/hotels/ReviewMappingsOfBookedHotels';
export const byFile = '/hotels/ReviewMappingsOfBookedHotelsByFile';
export const success = { Status: true, Message: expect.any(String), StatusCode: 2000 };

export const world = createWorld({ seed: 1, hotels: 50 });
const [first, second] = world.mappings.filter(({ providerName }) => providerName === 'NorthStar');
if (!first || !second) throw new Error('expected a world in which NorthStar sells two hotels');

/** A submitted booking with a correct mapping. */
export const rightBooking = item(first, first.serviceId);
/** The same booking with the master id of another hotel. */
export const wrongBooking = item(first, second.serviceId);

function item({ providerName, providerHotelId }: Mapping, serviceId: number) {
  return {
    ServiceId: serviceId,
    BookingReferenceId: 'BR-1',
    BookingClientName: 'Ana Núñez',
    ProviderName: providerName,
    ProviderHotelId: providerHotelId,
    CheckInDate: '2026-11-20',
    CheckOutDate: '2026-11-22',
  };
}

export interface RecordedEmail {
  readonly about: string;
  readonly incorrect: readonly BookedHotel[];
}

export interface StartedService extends Omit<SandboxService, 'emails'> {
  readonly told: readonly string[];
  /** E-mails passed to the outbox. */
  readonly emails: readonly RecordedEmail[];
  /** Paths passed to the file review. */
  readonly files: readonly (string | undefined)[];
}

export interface StartOptions {
  readonly faults?: readonly string[];
  readonly seed?: number;
  readonly port?: number;
  /** Awaited before an e-mail counts as written. */
  readonly deliver?: () => Promise<void>;
  readonly acceptFile?: FileReview['accept'];
}

/** The service on a free port, with an outbox and a file review that only record their calls. */
export async function startedService(options: StartOptions = {}): Promise<StartedService> {
  const { faults = [], seed = 1, port = 0 } = options;
  const told: string[] = [];
  const emails: RecordedEmail[] = [];
  const files: (string | undefined)[] = [];
  const clock = () => Date.UTC(2026, 10, 20, 14, 3, 7);
  const service = await startService({
    ...{ port, account, world },
    exports: { accept: () => {} },
    faults: createFaultPlan(faults.map(parseFault), createSeededRandom(seed)),
    outbox: {
      async notify(email) {
        emails.push(email);
        await options.deliver?.();
        return `outbox/${emails.length}.eml`;
      },
    },
    fileReview: {
      async accept(path) {
        files.push(path);
        return options.acceptFile?.(path) ?? 3;
      },
    },
    clock,
    tell: (line) => void told.push(line),
  });
  return { ...service, told, emails, files };
}
