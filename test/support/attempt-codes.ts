import type { LedgerWatch } from './ledger-watch.js';

/** What the attempts of a step came to, in order, by their codes. */
export async function attemptCodes(ledger: LedgerWatch, step: string): Promise<string[]> {
  return (await ledger.attempts()).filter((attempt) => attempt.step === step).map(({ code }) => code);
}
