import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Suspect, SuspectLines, SuspectReason } from '../../ledger/suspects.js';
import type { CopiedHotel } from '../../mappings/copied-hotels.js';
import type { Run } from '../../rules/run.js';
import { readNamelessFields } from '../stored/stored-line.js';

/** What comparing a booking with the local copy of the mappings found. The hotel is null if the mapping was deleted. */
export interface Suspicion extends CopiedHotel {
  readonly reason: SuspectReason;
  /** When the mapping changed, ISO 8601 in UTC; null if it never did. */
  readonly movedAt: string | null;
}

/** How many of a run's suspects its report lists. */
export const suspectsReported = 100;

/** The first suspects of a run; those of the file come first. */
export async function listSuspects(
  ledger: ReadOnlyLedger,
  { id, suspects: compared }: Run,
  limit: number,
): Promise<SuspectReport[]> {
  const listed: SuspectReport[] = [];
  if (compared === undefined) return listed;
  for await (const { suspects } of readSuspects(ledger, id)) {
    for (const suspect of suspects.slice(0, limit - listed.length)) listed.push(toReport(suspect));
    if (listed.length === limit) break;
  }
  return listed;
}

/** A suspect as shown to people and programs: under the service's names (spec 2.5), without the guest's name. */
export type SuspectReport = Suspicion & Readonly<Record<string, unknown>>;

function toReport({ line, ...suspect }: SuspectLines['suspects'][number]): SuspectReport {
  const { BookingReferenceId, ...fields } = readNamelessFields(line);
  return {
    ...(BookingReferenceId !== undefined && { BookingReferenceId }),
    ...fields,
    ...toSuspicion(suspect),
  };
}

export function toSuspicion({ reason, serviceId, movedAt }: Suspect): Suspicion {
  return {
    reason,
    copyServiceId: serviceId ?? null,
    copy: serviceId === undefined ? 'unmapped' : 'mapped',
    movedAt: movedAt === undefined ? null : new Date(movedAt).toISOString(),
  };
}

/** All suspects of a run, one stored batch at a time. */
export async function* readSuspects(ledger: ReadOnlyLedger, runId: string): AsyncGenerator<SuspectLines> {
  for (
    let page = await ledger.bookings.nextSuspects(runId);
    page;
    page = await ledger.bookings.nextSuspects(runId, page.cursor)
  )
    yield page;
}
