import type { LedgerWatch } from './ledger-watch.js';

/** What the attempts of a step came to, in order, by their codes. */
export function attemptCodes(ledger: LedgerWatch, step: string): string[] {
  const attempts = ledger.dump().attempts as readonly { readonly step: string; readonly code: string }[];
  return attempts.filter((attempt) => attempt.step === step).map(({ code }) => code);
}
