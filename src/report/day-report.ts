import type { CopyStanding } from '../mappings/copied-hotels.js';
import type { CanaryJson } from '../review/canary.js';
import type { ReasonCount } from '../review/collected.js';
import type { RunReport } from '../review/day/report.js';
import type { StepTime } from '../review/history.js';
import type { VerdictKnowledge } from '../review/verdicts/day-verdicts.js';
import type { ProviderVolume } from '../review/volume.js';

/**
 * How a day went, as `report D --json` prints it and as pages show it. It holds references and stays of affected bookings, and no
 * guest's name.
 */
export interface DayReport {
  /** YYYY-MM-DD */
  readonly day: string;
  /** ISO 8601, UTC */
  readonly writtenAt: string;
  readonly judgement: Judgement;
  /** The judgement in a sentence. */
  readonly headline: string;
  /** Newest first. */
  readonly runs: readonly RunReport[];
  /** Of all runs that sent the day; null stands for unknown. */
  readonly verdicts: {
    readonly knowledge: VerdictKnowledge;
    readonly affected: number | null;
    readonly unanswered: number | null;
    /** Bookings whose verdicts come by e-mail only. */
    readonly posted: number;
  };
  /** The newest of the day; null without one. */
  readonly canary: CanaryJson | null;
  /** Of the newest run. */
  readonly rejects: readonly ReasonCount[];
  readonly warnings: readonly ReasonCount[];
  readonly volume: ReportedVolume;
  /** Of the newest run, in the order in which they began. */
  readonly steps: readonly StepTime[];
  readonly affected: Listed<ReportedBooking>;
  /** All cases with an open booking, of any day. */
  readonly cases: Listed<ReportedCase>;
  /** All cases with a booking that nobody resolved before the stay was over. */
  readonly left: Listed<ReportedCase>;
}

/**
 * `good`: a complete day, and each of its bookings has the verdict correct. `sent`: complete, but some verdicts are unknown.
 * `attention`: somebody has to act. `unfinished`: it is being worked on, or waits.
 */
export type Judgement = 'good' | 'sent' | 'attention' | 'unfinished';

export interface ReportedVolume {
  /** Null where the day was not counted. */
  readonly accepted: number | null;
  /** Null if no day to compare with is known. */
  readonly usual: number | null;
  /** The days below are of the same weekday. */
  readonly isOfWeekday: boolean;
  /** The days that are compared with, oldest first. */
  readonly compared: readonly { readonly day: string; readonly accepted: number }[];
  /** Largest first. */
  readonly providers: readonly ProviderVolume[];
}

/** The first of a list, guests in house and then the nearest check-in first, and how many there are. */
export interface Listed<Item> {
  readonly count: number;
  readonly first: readonly Item[];
}

/** Null stands for unknown. */
export interface ReportedHotels {
  readonly providerName: string | null;
  readonly providerHotelId: string | null;
  /** As booked. */
  readonly serviceId: number;
  /** The master hotel that the local copy of the mappings has now. */
  readonly copyServiceId: number | null;
  readonly copy: CopyStanding;
  readonly bookedHotel: string | null;
  readonly copyHotel: string | null;
  readonly distanceKm: number | null;
}

export interface ReportedBooking extends ReportedHotels {
  readonly reference: string | null;
  readonly checkIn: string | null;
  readonly checkOut: string | null;
}

export interface ReportedCase extends ReportedHotels {
  readonly id: number;
  readonly state: string;
  readonly openBookings: number;
  readonly leftBookings: number;
  readonly firstCheckIn: string | null;
  /** Open bookings of guests who are in house, and when the last of them checks out. */
  readonly inHouse: number;
  readonly inHouseUntil: string | null;
}
