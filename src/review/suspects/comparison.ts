import { findHotel, readProviderHotel } from '../../booking/stored-line.js';
import type { Collect, CollectedBatch } from '../../ledger/collecting.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { CopiedMapping } from '../../ledger/mappings.js';
import type { Suspect, SuspectReason } from '../../ledger/suspects.js';

/** The largest look-up that the local copy accepts. */
const lookedUpAtOnce = 1_000;
/** Provider hotels whose mapping is cached, about 20 MB: a day repeats the same hotels. */
const cachedHotels = 100_000;

/** Compares every batch with the local copy of the mappings before it is stored. @param now epoch milliseconds */
export function createComparingCollect(
  collect: Collect,
  copy: ReadOnlyLedger['mappings'],
  now: number,
): Collect {
  /** By provider hotel. */
  const cache = new Map<string, KnownMapping>();

  async function lookUp(booked: readonly Booked[]): Promise<void> {
    const keys = [...new Set(booked.map(({ key }) => key))].filter((key) => !cache.has(key));
    for (let first = 0; first < keys.length; first += lookedUpAtOnce) {
      const asked = keys.slice(first, first + lookedUpAtOnce).map((key) => Buffer.from(key, 'latin1'));
      const found = await copy.lookUp(asked.map((bytes) => readProviderHotel(bytes.toString())));
      // Copied, because a substring would keep the whole batch in memory.
      for (const [index, bytes] of asked.entries()) cache.set(bytes.toString('latin1'), pick(found[index]));
    }
  }

  function judge(booked: readonly Booked[]): Suspect[] {
    return booked.flatMap(({ row, serviceId, key }) => {
      const mapping = cache.get(key) ?? {};
      const reason = findSuspicion(serviceId, mapping, now);
      return reason ? [{ row, reason, ...mapping }] : [];
    });
  }

  return {
    ...collect,
    async store(chunk) {
      if (cache.size > cachedHotels) cache.clear();
      const compared = chunk.batches.map((batch) => ({ batch, booked: listBooked(batch) }));
      await lookUp(compared.flatMap(({ booked }) => booked));
      const batches = compared.map(({ batch, booked }) => ({ ...batch, suspects: judge(booked) }));
      await collect.store({ ...chunk, batches });
    },
  };
}

/** A booking of a batch that names a provider's hotel. */
interface Booked {
  readonly row: number;
  readonly serviceId: number;
  /** The provider's hotel. */
  readonly key: string;
}

function listBooked({ lines }: CollectedBatch): Booked[] {
  const booked: Booked[] = [];
  // One character per byte: most lines are never decoded.
  const text = lines.toString('latin1');
  let start = 0;
  let row = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    const hotel = findHotel(text.slice(start, end));
    if (hotel) booked.push({ row, serviceId: hotel.serviceId, key: hotel.key });
    start = end + 1;
    row += 1;
  }
  return booked;
}

/** Nothing of a hotel that the copy doesn't know. */
function pick({ serviceId, movedAt }: Partial<CopiedMapping> = {}): KnownMapping {
  return { ...(serviceId !== undefined && { serviceId }), ...(movedAt !== undefined && { movedAt }) };
}

/** How long a booking of a hotel whose mapping moved counts as suspect: the source may still use the old master. */
const suspectMs = 7 * 86_400_000;

/** What the local copy of the mappings knows about a provider's hotel. */
export interface KnownMapping {
  readonly serviceId?: number;
  /** Epoch milliseconds. */
  readonly movedAt?: number;
}

/**
 * Why a booking's mapping is doubtful; undefined if the copy doesn't contradict it. A hotel whose mapping was deleted
 * has no other master: it is flagged for as long as the change is recent.
 *
 * @param serviceId the booking's master hotel
 * @param now epoch milliseconds
 */
export function findSuspicion(
  serviceId: number,
  mapping: KnownMapping,
  now: number,
): SuspectReason | undefined {
  if (mapping.serviceId !== undefined && mapping.serviceId !== serviceId) return 'other-master';
  if (mapping.movedAt === undefined) return undefined;
  return now - mapping.movedAt < suspectMs ? 'moved' : undefined;
}
