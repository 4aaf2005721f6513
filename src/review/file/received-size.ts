import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { ReviewFile, Run } from '../../ledger/run.js';
import type { SizeLimit } from '../../sftp/limits.js';
import { formatCount } from '../../text/format.js';

/** Accepted however small the file was that was sent: a small result may have many columns, or explanations. */
const freeBytes = 16_000_000;
const freeRows = 10_000;
/** A result repeats the rows of the file, with a few more columns. */
const resultFactor = 10;

/** Runs of one day that are consulted. */
const runsConsulted = 1_000;

type Sent = Partial<Pick<ReviewFile, 'bytes' | 'rows'>> | undefined;

/** The largest file that is downloaded from the server in answer to the one that was sent. */
export function limitReceived(sent: Sent): SizeLimit {
  return {
    bytes: Math.ceil((sent?.bytes ?? 0) * resultFactor) + freeBytes,
    advice: `It is more than ${resultFactor} times the file that was sent: have it removed from the server, and ask the service about it.`,
  };
}

/** What is on the server may belong to another run of the day, which sent more. */
export async function limitEarlier(
  { ledger }: { readonly ledger: ReadOnlyLedger },
  day: string,
): Promise<SizeLimit> {
  const runs = await ledger.runs.list({ day, limit: runsConsulted });
  return limitReceived(largestOf(runs));
}

/** The largest file that these runs sent. */
export function largestOf(runs: readonly Pick<Run, 'file'>[]): Sent {
  return runs
    .flatMap(({ file }) => (file ? [file] : []))
    .reduce<Sent>((largest, file) => ((largest?.bytes ?? 0) < (file.bytes ?? 0) ? file : largest), undefined);
}

/** A result has more rows than are joined in memory. */
export class TooManyRowsError extends Error {
  override readonly name = 'TooManyRowsError';
  readonly code = 'result-too-many-rows';
}

/** @returns a function that takes the number of rows read so far */
export function limitRows(sent: Sent): (rows: number) => void {
  const maxRows = Math.ceil((sent?.rows ?? 0) * resultFactor) + freeRows;
  return (rows) => {
    if (rows <= maxRows) return;
    throw new TooManyRowsError(
      `the result has more than ${formatCount(maxRows)} rows for ${formatCount(sent?.rows ?? 0)} that were sent: ask the service about it`,
    );
  };
}
