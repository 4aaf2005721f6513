import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { Silence } from '../review/verdict.js';

const hourMs = 3_600_000;
/** Without an e-mail of the service for that long, they probably don't arrive. */
const listedMs = 30 * 24 * hourMs;

/** The part of the setting `verdicts` that decides. */
interface SilenceSettings {
  /** Hours. */
  readonly silenceMeansCorrectAfter?: number | undefined;
  readonly from?: readonly string[] | undefined;
  readonly pollMinutes: number;
}

/**
 * What silence was agreed to mean, if anything. It lasts until the mailbox was last read, and counts only as long as the mailbox is
 * read and the service's e-mails arrive.
 */
export async function readSilence(
  { silenceMeansCorrectAfter: hours, from, pollMinutes }: SilenceSettings,
  { mails }: ReadOnlyLedger,
  now: number,
): Promise<Silence | undefined> {
  if (hours === undefined || from === undefined) return undefined;
  const { readUntil = 0, listedReadAt = 0 } = await mails.describeMailbox();
  // Two looks at the mailbox, and a restart.
  const isRead = now - readUntil <= 2 * pollMinutes * 60_000 + hourMs;
  if (!isRead || now - listedReadAt > listedMs) return undefined;
  return { afterMs: hours * hourMs, brokenAt: await mails.listNotUnderstood(), now: readUntil };
}
