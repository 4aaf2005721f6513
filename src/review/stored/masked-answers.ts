import { readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import { bookingForms } from '../../ledger/step.js';
import type { Trace } from '../../ledger/tracing.js';
import { createNameMask, type NameMask } from '../../text/mask-names.js';
import { readGuestName } from './stored-line.js';

interface MaskOptions {
  /** Whether the guest of the booking itself may be named. */
  readonly showsGuest?: boolean | undefined;
}

/**
 * The same history, in which the service's texts name no other guest of that run: they are about a batch or the whole
 * file, and a guest may only be shown what is about them.
 */
export async function maskAnswers(
  ledger: ReadOnlyLedger,
  trace: Trace,
  { showsGuest = true }: MaskOptions = {},
): Promise<Trace> {
  if (trace.kind === 'reject') return trace;
  const answers = trace.attempts.flatMap(({ answer }) => answer ?? []);
  if (answers.length === 0) return trace;
  const kept = showsGuest ? readGuestName(trace.line, trace.form) : undefined;
  const mask = await createRunMask(ledger, trace.run, answers, kept);
  const attempts = trace.attempts.map(({ answer, ...attempt }) =>
    answer === undefined ? attempt : { ...attempt, answer: mask.apply(answer) },
  );
  return { ...trace, attempts };
}

/** The service's texts without the name of any guest of that run. */
export async function maskTexts(
  ledger: ReadOnlyLedger,
  run: Pick<Run, 'id'>,
  texts: readonly string[],
): Promise<string[]> {
  if (texts.length === 0) return [];
  const mask = await createRunMask(ledger, run, texts, undefined);
  return texts.map(mask.apply);
}

/** @param kept the name that may be shown */
async function createRunMask(
  ledger: ReadOnlyLedger,
  run: Pick<Run, 'id'>,
  texts: readonly string[],
  kept: string | undefined,
): Promise<NameMask> {
  const mask = createNameMask(texts, kept);
  for (const form of bookingForms) {
    for await (const { lines } of readStoredBatches(ledger, run, form)) {
      for (const line of splitStoredLines(lines)) {
        const name = readGuestName(line, form);
        if (name !== undefined) mask.add(name);
      }
    }
  }
  return mask;
}
