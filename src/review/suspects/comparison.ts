import type { ProviderHotel } from '../../booking/booking.js';
import { findHotel, readProviderHotel } from '../../booking/stored-line.js';
import type { Collect, CollectedBatch } from '../../ledger/collecting.js';
import type { Suspect, SuspectReason } from '../../ledger/findings.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { CopiedMapping } from '../../ledger/mappings.js';

/** The largest look-up that the local copy accepts. */
const lookedUpAtOnce = 1_000;
/** Provider hotels whose mapping is cached, about 20 MB: a day repeats the same hotels. */
const cachedHotels = 100_000;
/** A hotel that the copy doesn't know. */
const unknown: KnownMapping = {};

export interface ComparisonOptions {
  readonly copy: ReadOnlyLedger['mappings'];
  /** Epoch milliseconds */
  readonly now: number;
}

/** Compares every batch with the local copy of the mappings before it is stored. */
export function createComparingCollect(collect: Collect, options: ComparisonOptions): Collect {
  const compare = createComparison(options);
  return {
    ...collect,
    store: async (chunk) => collect.store({ ...chunk, batches: await compare(chunk.batches) }),
  };
}

/** The copy's mapping of a provider hotel, once looked up. */
interface Answer {
  mapping: KnownMapping;
}

interface Question {
  readonly hotel: ProviderHotel;
  readonly answer: Answer;
}

/** A booking of a batch. */
interface Booked {
  readonly row: number;
  readonly serviceId: number;
  readonly answer: Answer;
}

/** Creates the function that adds suspects to batches. */
function createComparison({ copy, now }: ComparisonOptions) {
  const cache = new Map<string, Answer>();

  /** The bookings of a batch that name a provider's hotel. Those not cached are looked up. */
  function listBooked({ lines }: CollectedBatch, questions: Question[]): Booked[] {
    const booked: Booked[] = [];
    // One character per byte: most lines are never decoded.
    const text = lines.toString('latin1');
    let start = 0;
    let row = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const hotel = findHotel(text.slice(start, end));
      if (hotel) {
        const answer = cache.get(hotel.key) ?? ask(hotel.key, questions);
        booked.push({ row, serviceId: hotel.serviceId, answer });
      }
      start = end + 1;
      row += 1;
    }
    return booked;
  }

  function ask(key: string, questions: Question[]): Answer {
    const answer = { mapping: unknown };
    const bytes = Buffer.from(key, 'latin1');
    // Copied, because a substring would keep the whole batch in memory.
    cache.set(bytes.toString('latin1'), answer);
    questions.push({ hotel: readProviderHotel(bytes.toString()), answer });
    return answer;
  }

  async function lookUp(questions: readonly Question[]): Promise<void> {
    for (let first = 0; first < questions.length; first += lookedUpAtOnce) {
      const asked = questions.slice(first, first + lookedUpAtOnce);
      const found = await copy.lookUp(asked.map(({ hotel }) => hotel));
      asked.forEach(({ answer }, index) => {
        const mapping = found[index];
        if (mapping) answer.mapping = pick(mapping);
      });
    }
  }

  function judge(booked: readonly Booked[]): Suspect[] {
    const suspects: Suspect[] = [];
    for (const { row, serviceId, answer } of booked) {
      const { mapping } = answer;
      const reason = findSuspicion(serviceId, mapping, now);
      if (reason) suspects.push({ row, reason, ...mapping });
    }
    return suspects;
  }

  return async (batches: readonly CollectedBatch[]): Promise<CollectedBatch[]> => {
    if (cache.size > cachedHotels) cache.clear();
    const questions: Question[] = [];
    const booked = batches.map((batch) => listBooked(batch, questions));
    await lookUp(questions);
    return batches.map((batch, index) => ({ ...batch, suspects: judge(booked[index] ?? []) }));
  };
}

function pick({ serviceId, movedAt }: CopiedMapping): KnownMapping {
  return { ...(serviceId !== undefined && { serviceId }), ...(movedAt !== undefined && { movedAt }) };
}

/** How long a booking of a hotel whose mapping moved counts as suspect: the source may still use the old master. */
const suspectMs = 7 * 86_400_000;

/** What the local copy of the mappings knows about a provider's hotel. */
export type KnownMapping = Pick<CopiedMapping, 'serviceId' | 'movedAt'>;

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
