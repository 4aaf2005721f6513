import type { CopiedMapping, MappingCopy, ProviderHotel } from '../../mappings/mapping-copy.js';
import type { Collect, CollectedBatch, Suspect } from '../collected.js';
import type { BookingForm } from '../step.js';
import { findHotel, readProviderHotel } from '../stored/stored-line.js';

/** The local copy takes no more at once. */
const lookedUpAtOnce = 1_000;
/** Provider hotels whose mapping is kept at hand, some 20 MB: a day has the same ones again and again. */
const hotelsAtHand = 100_000;
/** Stands for what the copy doesn't know. */
const unknown: KnownMapping = {};

export interface ComparisonOptions {
  readonly copy: Pick<MappingCopy, 'lookUp'>;
  /** For how many days a booking is a suspect whose mapping moved. */
  readonly suspectDays: number;
  /** Epoch milliseconds */
  readonly now: number;
}

/** The same collect, which compares every batch with the local copy of the mappings before it is stored. */
export function createComparingCollect(collect: Collect, options: ComparisonOptions): Collect {
  const compare = createComparison(options);
  return {
    ...collect,
    store: async (chunk) => collect.store({ ...chunk, batches: await compare(chunk.batches) }),
  };
}

/** What the copy knows of a provider's hotel, once it was asked. */
interface Answer {
  mapping: KnownMapping;
}

interface Question {
  readonly hotel: ProviderHotel;
  readonly answer: Answer;
}

/** A booking of a batch. */
interface Booked {
  readonly place: number;
  readonly serviceId: number;
  readonly answer: Answer;
}

/**
 * Makes the function that names the suspects of batches. Bookings that were filled in from the copy are told already, and
 * stay what they are; what the copy knows of them is added.
 */
function createComparison({ copy, ...judged }: ComparisonOptions) {
  const atHand: Record<BookingForm, Map<string, Answer>> = { body: new Map(), file: new Map() };

  /** The bookings of a batch that name a provider's hotel. What is not at hand is to be asked. */
  function listBooked({ form, lines }: CollectedBatch, questions: Question[]): Booked[] {
    const answers = atHand[form];
    const booked: Booked[] = [];
    // A character for each byte: most lines are never decoded.
    const text = lines.toString('latin1');
    let start = 0;
    let place = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const hotel = findHotel(text.slice(start, end), form);
      if (hotel) {
        const answer = answers.get(hotel.key) ?? ask(hotel.key, form, questions);
        booked.push({ place, serviceId: hotel.serviceId, answer });
      }
      start = end + 1;
      place += 1;
    }
    return booked;
  }

  function ask(key: string, form: BookingForm, questions: Question[]): Answer {
    const answer = { mapping: unknown };
    const bytes = Buffer.from(key, 'latin1');
    // A text of its own: a piece of the batch's would keep all of that in memory.
    atHand[form].set(bytes.toString('latin1'), answer);
    questions.push({ hotel: readProviderHotel(bytes.toString(), form), answer });
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

  function judge({ suspects: filledIn = [] }: CollectedBatch, booked: readonly Booked[]): Suspect[] {
    const filledPlaces = new Set(filledIn.map(({ place }) => place));
    const suspects: Suspect[] = [];
    for (const { place, serviceId, answer } of booked) {
      const { mapping } = answer;
      const reason = filledPlaces.has(place) ? 'filled-in' : findSuspicion(serviceId, mapping, judged);
      if (reason) suspects.push({ place, reason, ...mapping });
    }
    return suspects;
  }

  return async (batches: readonly CollectedBatch[]): Promise<CollectedBatch[]> => {
    for (const answers of Object.values(atHand)) if (answers.size > hotelsAtHand) answers.clear();
    const questions: Question[] = [];
    const booked = batches.map((batch) => listBooked(batch, questions));
    await lookUp(questions);
    return batches.map((batch, index) => ({ ...batch, suspects: judge(batch, booked[index] ?? []) }));
  };
}

function pick({ serviceId, movedAt }: CopiedMapping): KnownMapping {
  return { ...(serviceId !== undefined && { serviceId }), ...(movedAt !== undefined && { movedAt }) };
}

const dayMs = 86_400_000;

/** What the local copy of the mappings knows of a provider's hotel, as far as it matters to a booking. */
export type KnownMapping = Pick<CopiedMapping, 'serviceId' | 'movedAt'>;

/**
 * Why a booking's mapping is doubtful; undefined where the copy has nothing against it. A hotel whose mapping was deleted
 * has no other master: it is doubtful as long as it counts as moved.
 *
 * @param serviceId the master hotel that the booking has
 * @param now epoch milliseconds
 */
export function findSuspicion(
  serviceId: number,
  mapping: KnownMapping,
  { now, suspectDays }: { readonly now: number; readonly suspectDays: number },
): 'other-master' | 'moved' | undefined {
  if (mapping.serviceId !== undefined && mapping.serviceId !== serviceId) return 'other-master';
  if (mapping.movedAt === undefined) return undefined;
  return now - mapping.movedAt < suspectDays * dayMs ? 'moved' : undefined;
}
