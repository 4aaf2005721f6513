/** When a guest stays, YYYY-MM-DD; what is unknown is absent. */
export interface StayDates {
  readonly checkIn?: string | undefined;
  readonly checkOut?: string | undefined;
}

/** A date further away from the business day is a mistake, or stands for no date. */
export const plausibleYears = { before: 2, after: 5 } as const;

/** Whether a booking of that business day can have that date. Both are YYYY-MM-DD. */
export function isPlausible(date: string, day: string): boolean {
  const { before, after } = plausibleYears;
  const years = Number(date.slice(0, 4)) - Number(day.slice(0, 4));
  if (years === -before) return date.slice(4) >= day.slice(4);
  if (years === after) return date.slice(4) <= day.slice(4);
  return years > -before && years < after;
}

/** When a guest stays, as far as a booking of that business day says so: an implausible date is unknown. */
export function stayOf({ checkInDate, checkOutDate }: BookedDates, day: string): StayDates {
  const known = (date: string | undefined) =>
    date !== undefined && isPlausible(date, day) ? date : undefined;
  return { checkIn: known(checkInDate), checkOut: known(checkOutDate) };
}

/** The dates of a booking as it was sent. */
export interface BookedDates {
  readonly checkInDate?: string | undefined;
  readonly checkOutDate?: string | undefined;
}

/** A stay without a check-out counts as over after this many days. */
export const daysWithoutCheckOut = 30;

/** A check-out before the check-in is a mistake, and says nothing. */
export function checkOutOf({ checkIn, checkOut }: StayDates): string | undefined {
  return checkIn !== undefined && checkOut !== undefined && checkOut < checkIn ? undefined : checkOut;
}

/** Whether the guest has left for certain. @param today YYYY-MM-DD, in the account's zone */
export function isOver(stay: StayDates, today: string): boolean {
  const checkOut = checkOutOf(stay);
  if (checkOut !== undefined) return checkOut < today;
  return stay.checkIn !== undefined && stay.checkIn < firstCheckInWithoutCheckOut(today);
}

/** The earliest check-in of a stay without a check-out that is not over. */
export function firstCheckInWithoutCheckOut(today: string): string {
  return new Date(Date.parse(today) - daysWithoutCheckOut * 86_400_000).toISOString().slice(0, 10);
}

/** Whether the guest arrived before today and has not left. */
export function isInHouse(stay: StayDates, today: string): boolean {
  return stay.checkIn !== undefined && stay.checkIn < today && !isOver(stay, today);
}

/**
 * Sorts stays by how much they need help: guests in house, unknown check-ins, which might be tomorrow, then the nearest
 * check-in, and those that are over.
 */
export function urgencyOf(stay: StayDates, today: string): string {
  const { checkIn } = stay;
  if (isOver(stay, today)) return `3${checkIn ?? ''}`;
  if (checkIn === undefined) return '1';
  return `${checkIn < today ? 0 : 2}${checkIn}`;
}

/** The check-in for people. */
export function describeCheckIn(stay: StayDates, today: string): string {
  const { checkIn = 'unknown' } = stay;
  return isInHouse(stay, today) ? describeInHouse(checkIn, checkOutOf(stay)) : checkIn;
}

export function describeInHouse(since: string, until: string | null | undefined): string {
  return `in house since ${since}, until ${until ?? 'an unknown day'}`;
}
