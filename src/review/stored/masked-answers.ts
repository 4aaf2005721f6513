import { readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import { bookingForms } from '../../ledger/step.js';
import type { Trace } from '../../ledger/tracing.js';
import { createNameMask, type NameMask } from '../../text/mask-names.js';
import { readBooking } from './stored-line.js';

/**
 * The same history, in which the service's texts name no other guest of that run: they are about a batch or the whole
 * file, and a guest may only be shown what is about them.
 *
 * @param showsGuest whether the guest of the booking itself may be named
 */
export async function maskAnswers(ledger: ReadOnlyLedger, trace: Trace, showsGuest = true): Promise<Trace> {
  if (trace.kind === 'reject') return trace;
  const answers = trace.attempts.flatMap(({ answer }) => answer ?? []);
  const kept = showsGuest ? readBooking(trace.line, trace.form).bookingClientName : undefined;
  const mask = await createRunMask(ledger, trace.run, answers, kept);
  const attempts = trace.attempts.map(({ answer, ...attempt }) =>
    answer === undefined ? attempt : { ...attempt, answer: mask.apply(answer) },
  );
  return { ...trace, attempts };
}

/**
 * Takes the names of all guests of a run out of these texts of the service.
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
  // Without texts, nothing has to be read.
  for (const form of texts.length > 0 ? bookingForms : [])
    for await (const { lines } of readStoredBatches(ledger, run, form)) {
      for (const line of splitStoredLines(lines)) {
        const name = readBooking(line, form).bookingClientName;
        if (name !== undefined) mask.add(name);
      }
    }
  return mask;
}
