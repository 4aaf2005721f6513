import type { Suspect, SuspectReason } from '../../ledger/findings.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import type { SuspectLines } from '../../ledger/tracing.js';
import type { CopyStanding } from '../../mappings/copied-hotels.js';
import { formatCountOf } from '../../text/format.js';
import { readBooking } from '../stored/stored-line.js';

/**
 * A suspect as shown to people and programs: under the service's names (spec 2.5), without the guest's name.
 */
export interface SuspectReport extends Suspicion {
  readonly BookingReferenceId?: string;
  readonly ServiceId: number;
  readonly ProviderName?: string;
  readonly ProviderHotelId?: string;
  /** YYYY-MM-DD */
  readonly CheckInDate?: string;
  readonly CheckOutDate?: string;
}

/** What comparing a booking with the local copy of the mappings found. */
export interface Suspicion {
  readonly reason: SuspectReason;
  /** The master hotel of its provider's hotel in the copy; null if the mapping was deleted. */
  readonly copyServiceId: number | null;
  readonly copy: CopyStanding;
  /** When the mapping changed, ISO 8601 in UTC; null if it never did. */
  readonly movedAt: string | null;
}

/** How many of a run's suspects its report lists. */
export const suspectsReported = 100;

/** The first suspects of a run; those of the file come last. */
export async function listSuspects(
  ledger: ReadOnlyLedger,
  { id, suspects }: Pick<Run, 'id' | 'suspects'>,
  limit: number,
): Promise<SuspectReport[]> {
  const listed: SuspectReport[] = [];
  if (suspects === undefined) return listed;
  for await (const page of readSuspects(ledger, id)) {
    listed.push(...toReports(page).slice(0, limit - listed.length));
    if (listed.length === limit) break;
  }
  return listed;
}

/**
 * The runs that together sent a day, as far as they were compared with the local copy: the newest compared one and,
 * if it only topped up, those before it.
 *
 * @param runs of the day, newest first
 */
export function findComparedRuns(runs: readonly Run[]): readonly Run[] {
  const newest = runs.findIndex(wasCompared);
  if (newest === -1) return [];
  const whole = runs.findIndex(({ topsUp }, index) => index >= newest && !topsUp);
  return runs.slice(newest, whole === -1 ? undefined : whole + 1).filter(wasCompared);
}

function wasCompared({ suspects }: Run): boolean {
  return suspects !== undefined;
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

function toReports({ form, suspects }: SuspectLines): SuspectReport[] {
  return suspects.map(({ line, ...suspect }) => {
    const { serviceId, bookingReferenceId, providerName, providerHotelId, checkInDate, checkOutDate } =
      readBooking(line, form);
    return {
      ...(bookingReferenceId !== undefined && { BookingReferenceId: bookingReferenceId }),
      ServiceId: serviceId,
      ...(providerName !== undefined && { ProviderName: providerName }),
      ...(providerHotelId !== undefined && { ProviderHotelId: providerHotelId }),
      ...(checkInDate !== undefined && { CheckInDate: checkInDate }),
      ...(checkOutDate !== undefined && { CheckOutDate: checkOutDate }),
      ...toSuspicion(suspect),
    };
  });
}

/** The number of flagged bookings, for people. */
export function explainSuspects(suspects: number): string {
  return `  suspects: ${formatCountOf(suspects, 'booking')} whose mapping differs or changed recently`;
}
