import { businessDayAt } from '../booking/business-day.js';
import { createHotelComparer } from '../mappings/hotels/compare-hotels.js';
import { canaryToJson, judgeCanary } from '../review/canary.js';
import { readReport } from '../review/day/report.js';
import type { ReadOnlyLedger } from '../review/ledger.js';
import { type ComparedBooking, withHotels } from '../review/verdicts/booked-hotels.js';
import { summariseVerdicts } from '../review/verdicts/day-verdicts.js';
import { type BookingList, listAffected } from '../review/verdicts/listing.js';
import {
  chooseCompared,
  daysToCompare,
  listProviderVolumes,
  usualOf,
  type VolumeSettings,
} from '../review/volume.js';
import type { DayReport, Listed, ReportedBooking, ReportedCase, ReportedVolume } from './day-report.js';
import { judgeDay } from './judge-day.js';

const runsRead = 1_000;
/** Runs shown; a day can have dozens of runs of today without news. */
const runsShown = 20;
/** Bookings and cases shown; the commands list all. */
export const listed = 100;

export interface ReportParts {
  readonly ledger: ReadOnlyLedger;
  /** The first `limit` cases with an open booking, guests in house first, or with bookings that were never resolved. */
  readonly listCases: (which: 'open' | 'left', limit: number) => Promise<Listed<ReportedCase>>;
  readonly volume: VolumeSettings;
  readonly timezone: string;
  readonly clock: () => number;
}

/** Gathers how a day went. */
export async function gatherReport(
  day: string,
  { ledger, listCases, volume, timezone, clock }: ReportParts,
): Promise<DayReport> {
  const now = clock();
  const today = businessDayAt(new Date(now), timezone).iso;
  const runs = await ledger.listRuns({ day, limit: runsRead });
  const verdicts = summariseVerdicts(day, runs);
  const newest = verdicts.newer ?? verdicts.runs[0];
  const compare = createHotelComparer({ hotels: ledger.hotels, clock });
  const [canary] = await ledger.listCanaries({ day, limit: 1 });
  return {
    day,
    writtenAt: new Date(now).toISOString(),
    ...judgeDay(verdicts, { timezone, canary: canary && judgeCanary(canary, now) }),
    runs: await Promise.all(
      runs.slice(0, runsShown).map((run) => readReport(ledger, run, { now, timezone })),
    ),
    verdicts: {
      knowledge: verdicts.knowledge,
      affected: verdicts.affected,
      unanswered: verdicts.unanswered,
      posted: verdicts.posted,
    },
    canary: canary ? canaryToJson(canary, now) : null,
    rejects: newest ? await ledger.countRejects(newest.id) : [],
    warnings: newest ? await ledger.countWarnings(newest.id) : [],
    volume: await compareVolume(day, ledger, volume),
    steps: newest ? await ledger.listStepTimes(newest.id) : [],
    affected: await readFirst(withHotels(await listAffected(ledger, [verdicts], { today }), compare)),
    cases: await listCases('open', listed),
    left: await listCases('left', listed),
  };
}

async function compareVolume(
  day: string,
  ledger: Pick<ReadOnlyLedger, 'listVolumes' | 'findVolume'>,
  settings: VolumeSettings,
): Promise<ReportedVolume> {
  const counted = await ledger.findVolume(day);
  const good = await ledger.listVolumes(daysToCompare(day, settings));
  const { days: earlier, isOfWeekday } = chooseCompared(day, good);
  return {
    accepted: counted?.accepted ?? null,
    usual: usualOf(earlier.map(({ accepted }) => accepted)),
    isOfWeekday,
    compared: earlier
      .map(({ day: compared, accepted }) => ({ day: compared, accepted }))
      .sort((one, other) => (one.day < other.day ? -1 : 1)),
    providers: (counted ? listProviderVolumes(counted, earlier) : []).sort(
      (one, other) => (other.usual ?? other.accepted) - (one.usual ?? one.accepted),
    ),
  };
}

async function readFirst(list: BookingList<ComparedBooking>): Promise<Listed<ReportedBooking>> {
  const first: ReportedBooking[] = [];
  for await (const bookings of list.read({ from: 0, to: listed })) first.push(...bookings.map(toReported));
  return { count: list.count, first };
}

/** Without the guest's name. */
export function toReported({ fields, copyServiceId, copy, hotels }: ComparedBooking): ReportedBooking {
  const text = (name: string) => (fields[name] === undefined ? null : String(fields[name]));
  return {
    reference: text('BookingReferenceId'),
    checkIn: text('CheckInDate'),
    checkOut: text('CheckOutDate'),
    providerName: text('ProviderName'),
    providerHotelId: text('ProviderHotelId'),
    serviceId: Number(fields.ServiceId),
    ...{ copyServiceId, copy },
    bookedHotel: hotels.bookedHotel?.name ?? null,
    copyHotel: hotels.copyHotel?.name ?? null,
    distanceKm: hotels.distanceKm ?? null,
  };
}
