import type { KeptValues } from '../../booking/kept-values.js';
import { urgencyOf } from '../../booking/stay.js';
import type { CopyStanding } from '../../mappings/copied-hotels.js';
import type { Suspect, SuspectReason } from '../collected.js';
import type { SuspectLines, SuspectReader } from '../history.js';
import { type KeptColumnReader, type KeptColumns, keptAt } from '../kept-columns.js';
import type { Run } from '../run.js';
import { readBooking } from '../stored/stored-line.js';
import { type Ordered, orderByKey } from '../verdicts/check-in-order.js';

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
  /** Its local columns, if requested. */
  readonly kept?: KeptValues;
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
  ledger: SuspectReader,
  { id, suspects }: Pick<Run, 'id' | 'suspects'>,
  limit: number,
): Promise<SuspectReport[]> {
  const listed: SuspectReport[] = [];
  if (suspects === undefined) return listed;
  for await (const { reports } of readPieces(ledger, id)) {
    listed.push(...reports.slice(0, limit - listed.length));
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

/** All suspects of these runs, in chunks, with their kept columns if the ledger can read them. One that several runs sent is listed once. */
export async function* readSuspects(
  ledger: SuspectReader & Partial<Pick<KeptColumnReader, 'readKeptColumns'>>,
  runs: readonly Run[],
): AsyncGenerator<readonly SuspectReport[]> {
  const seen = new Set<string>();
  const isNew = (line: string): boolean => {
    if (runs.length === 1) return true;
    const size = seen.size;
    return seen.add(line).size > size;
  };
  for (const { id } of runs) {
    for await (const { lines, reports } of readPieces(ledger, id))
      yield reports.filter((_, index) => isNew(lines[index] ?? ''));
  }
}

/**
 * The same by how much they need help, guests in house first.
 *
 * @param read the suspects, in the same order on each call
 */
export async function orderSuspects(
  read: () => AsyncIterable<readonly SuspectReport[]>,
  today: string,
): Promise<Ordered<SuspectReport>> {
  async function* scan() {
    for await (const suspects of read())
      yield suspects.map((suspect) => ({
        key: urgencyOf({ checkIn: suspect.CheckInDate, checkOut: suspect.CheckOutDate }, today),
        suspect,
      }));
  }
  const { count, read: readOrdered } = await orderByKey(scan, (item) => item);
  return {
    count,
    async *read(window) {
      for await (const items of readOrdered(window)) yield items.map(({ suspect }) => suspect);
    },
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

interface Piece {
  readonly lines: readonly string[];
  readonly reports: readonly SuspectReport[];
}

async function* readPieces(
  ledger: SuspectReader & Partial<Pick<KeptColumnReader, 'readKeptColumns'>>,
  runId: string,
): AsyncGenerator<Piece> {
  let page = await ledger.nextSuspects(runId);
  while (page) {
    const kept = await ledger.readKeptColumns?.(runId, page.form, page.cursor.batch);
    yield { lines: page.suspects.map(({ line }) => line), reports: toReports(page, kept) };
    page = await ledger.nextSuspects(runId, page.cursor);
  }
}

function toReports({ form, suspects }: SuspectLines, columns: KeptColumns | undefined): SuspectReport[] {
  return suspects.map(({ line, ...suspect }) => {
    const { serviceId, bookingReferenceId, providerName, providerHotelId, checkInDate, checkOutDate } =
      readBooking(line, form);
    const kept = keptAt(columns, suspect.place);
    return {
      ...(bookingReferenceId !== undefined && { BookingReferenceId: bookingReferenceId }),
      ServiceId: serviceId,
      ...(providerName !== undefined && { ProviderName: providerName }),
      ...(providerHotelId !== undefined && { ProviderHotelId: providerHotelId }),
      ...(checkInDate !== undefined && { CheckInDate: checkInDate }),
      ...(checkOutDate !== undefined && { CheckOutDate: checkOutDate }),
      ...toSuspicion(suspect),
      ...(kept && { kept }),
    };
  });
}
