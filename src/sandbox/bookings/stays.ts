const dayLength = 86_400_000;
/** The calendar of the business days has years of four digits. */
const firstDay = '0001-01-01';
const lastDay = '9999-12-31';

/** Bookings that reached the export only after the guest had arrived. */
const lateShare = 0.02;
const sameDayShare = 0.08;
const daysLate = 3;
const daysAhead = 330;
const longestStay = 21;

export interface Stay {
  /** YYYY-MM-DD */
  readonly checkIn: string;
  /** YYYY-MM-DD, one to 21 nights later. */
  readonly checkOut: string;
}

/**
 * Makes up stays as they are booked on a day: mostly for the weeks to come, rarely for next year's, and mostly short.
 *
 * @param day YYYY-MM-DD
 */
export function createStays(day: string, random: () => number): () => Stay {
  const first = Date.parse(`${day}T00:00:00Z`) - daysLate * dayLength;
  const dates = Array.from({ length: daysLate + daysAhead + longestStay + 1 }, (_, index) =>
    writeDate(first + index * dayLength),
  );

  function drawCheckIn(): number {
    const when = random();
    if (when < lateShare) return Math.floor(random() * daysLate);
    if (when < lateShare + sameDayShare) return daysLate;
    return daysLate + Math.floor(random() ** 2 * daysAhead);
  }

  return () => {
    const checkIn = drawCheckIn();
    const nights = 1 + Math.floor(random() ** 2 * longestStay);
    return { checkIn: dates[checkIn] ?? lastDay, checkOut: dates[checkIn + nights] ?? lastDay };
  };
}

function writeDate(instant: number): string {
  const within = Math.min(Math.max(instant, Date.parse(firstDay)), Date.parse(lastDay));
  return new Date(within).toISOString().slice(0, 10);
}
