import type { Config } from '../src/config/load.js';
import type { Silence } from '../src/review/verdict.js';
import type { ReadOnlyMailLedger } from '../src/verdict-mails/mail-log.js';

const hourMs = 3_600_000;

/** What silence was agreed to mean, if anything. */
export async function readSilence(
  { verdicts: { silenceMeansCorrectAfter: hours } }: Config,
  { verdictMails }: ReadOnlyMailLedger,
  now: number,
): Promise<Silence | undefined> {
  if (hours === undefined) return undefined;
  return { afterMs: hours * hourMs, brokenAt: await verdictMails.listNotUnderstood(), now };
}
