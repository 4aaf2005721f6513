import { type BusinessDay, goBack, listDays } from '../../booking/business-day.js';
import { batchStreams } from '../../booking/sending.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Repetition } from '../../rules/gates.js';
import type { Run } from '../../rules/run.js';
import { KeyError } from '../../storage/day-keys.js';
import type { Delivery } from '../delivery.js';
import { toComparable } from './delivered-lines.js';
import type { BookingStore } from './store-bookings.js';

const daysCompared = 8;
/** Of each earlier day at least so many bookings are looked up, and few batches more, so that a large day costs little more than a small one. */
const sampleSize = 1_000;
/** A large run's sample is taken from so many stretches: neighbours are alike, such as all bookings of one provider. */
const mostStretches = 10;
/** Runs of today may be dozens. */
const runsPerDay = 100;

/** Where the bookings of other days are looked up. */
interface LookUp {
  readonly find: BookingStore['find'];
  readonly delivery: Delivery;
  readonly ledger: ReadOnlyLedger;
}

/**
 * Looks up what the days before sent among the bookings that were collected. Lines are looked up by their hash alone: in a day
 * of a million, one of 200,000 is found by mistake.
 *
 * A run whose stored names are gone, because they were blanked or left out or its day's key was destroyed, can't be compared
 * with bookings that have names.
 */
export async function findRepetition(day: BusinessDay, lookUp: LookUp): Promise<Repetition> {
  const compared = [];
  for (const iso of listDays(goBack(day, daysCompared).iso, day.iso).slice(0, -1).reverse()) {
    const sample = await lookUpDay(iso, lookUp);
    if (sample) compared.push({ day: iso, ...sample });
  }
  const found = new Set(compared.flatMap((sample) => [...sample.found]));
  // Several small days are known exactly; of large ones, the one with the most is an estimate.
  const bookings = Math.max(found.size, ...compared.map(({ repeated }) => Math.round(repeated)));
  return {
    bookings,
    isEstimate: bookings > found.size,
    days: compared.filter(({ repeated }) => repeated > 0).map((one) => one.day),
    sent: compared.length,
    incomparable: compared.filter(({ sampled }) => sampled === 0).length,
  };
}

/** Undefined for a day that sent nothing. */
async function lookUpDay(day: string, lookUp: LookUp) {
  const listed = await lookUp.ledger.runs.list({ day, limit: runsPerDay });
  const runs = listed.filter(({ counts }) => counts.delivered > 0);
  if (runs.length === 0) return undefined;
  const samples: Awaited<ReturnType<typeof lookUpRun>>[] = [];
  let sampled = 0;
  for (const run of runs) {
    const hasLostNames = run.linesBlanked || run.guestNames === 'omit';
    if (sampled >= sampleSize || (hasLostNames && lookUp.delivery.names === 'send')) continue;
    const sample = await lookUpRun(run, lookUp);
    samples.push(sample);
    sampled += sample.sampled;
  }
  return {
    sampled,
    found: new Set(samples.flatMap(({ found }) => [...found])),
    // Runs of a day may have sent the same bookings.
    repeated: Math.max(0, ...samples.map(({ repeated }) => repeated)),
  };
}

/** Which of a sample of the run's bookings were collected now, by their numbers, and about how many there are in all. */
async function lookUpRun({ id }: Run, { find, delivery, ledger }: LookUp) {
  const found = new Set<number>();
  let sampled = 0;
  let repeated = 0;
  try {
    for (const stream of batchStreams) {
      const stored = await ledger.bookings.measureBatches(id, stream);
      const before = found.size;
      let looked = 0;
      for (const range of planSample(stored)) {
        const batches = await ledger.bookings.readBatches(id, stream, range);
        const block = toComparable(Buffer.concat(batches), delivery.names);
        for (let index = 0; index < block.ends.length; index += 1) {
          const number = find(block, index);
          if (number !== undefined) found.add(number);
        }
        looked += block.ends.length;
      }
      sampled += looked;
      if (looked > 0) repeated += ((found.size - before) * stored.bookings) / looked;
    }
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
  }
  return { sampled, found, repeated };
}

/** Which batches of a run to read: all of a small run, some at equal distances of a large one. */
export function planSample({ batches, bookings }: { readonly batches: number; readonly bookings: number }) {
  if (bookings === 0) return [];
  if (bookings <= sampleSize) return [{ from: 0, to: batches }];
  const perBatch = bookings / batches;
  const together = Math.ceil(sampleSize / mostStretches / perBatch);
  const stretches = Math.min(mostStretches, Math.floor(batches / together));
  return Array.from({ length: stretches }, (_, stretch) => {
    const from = Math.floor((stretch * (batches - together)) / Math.max(1, stretches - 1));
    return { from, to: from + together };
  });
}
