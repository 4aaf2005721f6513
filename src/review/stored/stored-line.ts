import { type Booking, bookingFields, guestNameFields } from '../../booking/booking.js';
import { batchStreams, writeNames } from '../../booking/sending.js';
import { readBooking } from '../../booking/stored-line.js';
import { readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { RefusedBooking, Trace } from '../../ledger/tracing.js';
import type { Run } from '../../rules/run.js';
import { hasErasedGuest } from '../every-run.js';
import { createNameMask, type NameMask } from './mask-names.js';

/** The booking reference of a stored line. */
export function readReference(line: string): string | undefined {
  return readBooking(line).bookingReferenceId;
}

/** A refused booking in a list of a run's, without the service's words, which may name a guest. */
export function refusedToJson({ line, code, step }: RefusedBooking) {
  return { reference: readReference(line) ?? null, code, step };
}

/** A booking under the service's names (spec 2.5) and in its order; a missing field is absent. */
export function toFields(booking: Booking): Record<string, unknown> {
  const fields = bookingFields.map(({ name, property }) => [name, booking[property]] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** A booking for display, under the service's field names, with the guest's name masked. */
export function maskBooking(booking: Booking): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(toFields(booking)).map(([name, value]) => [
      name,
      guestNameFields.has(name) ? '***' : value,
    ]),
  );
}

/** The booking of a stored line under the service's names, without the guest's name. */
export function readNamelessFields(line: string): Record<string, unknown> {
  return toFields(writeNames(readBooking(line), 'omit'));
}

/**
 * The same history, in which the service's texts name no other guest of that run: they are about a batch or the whole
 * file, and a guest may only be shown what is about them.
 *
 * @param showsGuest whether the guest of the booking itself may be named
 */
export async function maskAnswers(ledger: ReadOnlyLedger, trace: Trace, showsGuest = true): Promise<Trace> {
  if (trace.kind === 'reject') return trace;
  const answers = trace.attempts.flatMap(({ answer }) => answer ?? []);
  const kept = showsGuest ? readBooking(trace.line).bookingClientName : undefined;
  const mask = await createRunMask(ledger, trace.run, answers, kept);
  const attempts = trace.attempts.map(({ answer, ...attempt }) =>
    answer === undefined ? attempt : { ...attempt, answer: mask.apply(answer) },
  );
  return { ...trace, attempts };
}

/** For people outside: they need not know our machines. */
export function withoutWorkers(trace: Trace): Trace {
  if (trace.kind === 'reject') return trace;
  return { ...trace, attempts: trace.attempts.map(({ worker, ...attempt }) => attempt) };
}

/** In place of a text: a name that the ledger has forgotten cannot be masked in it. */
const notShown =
  '(not shown: it may hold the name of a guest that was removed, and cannot be masked any more)';

/**
 * Takes the names of all guests of a run out of these texts of the service. If names of its day were removed, nothing of the texts is
 * left.
 *
 * @param kept the name that may be shown
 */
export async function createRunMask(
  ledger: ReadOnlyLedger,
  run: Run,
  texts: readonly string[],
  kept?: string,
): Promise<NameMask> {
  const mask = createNameMask(texts, kept);
  const hasForgotten = run.linesBlanked || run.namesBlankedAt !== undefined;
  if (texts.length > 0 && (hasForgotten || (await hasErasedGuest(ledger, run.day))))
    return { ...mask, apply: () => notShown };
  // Without texts, nothing has to be read.
  for (const stream of texts.length > 0 ? batchStreams : [])
    for await (const { lines } of readStoredBatches(ledger, run, stream)) {
      for (const line of splitStoredLines(lines)) {
        const name = readBooking(line).bookingClientName;
        if (name !== undefined) mask.add(name);
      }
    }
  return mask;
}
