import { type BusinessDay, businessDayAt } from '../booking/business-day.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import type { Probe } from '../mapping-service/client.js';
import { formatDuration } from '../text/format.js';

const { ok, warning } = findingsOf('clock');

/** Further apart than that, and near midnight a run takes a day that the service would not call by that name. */
const toleratedMs = 60_000;

/** @param askService what the service answered, which may tell its time */
export async function checkClock({
  clock,
  zone,
  askService,
}: {
  readonly clock: () => number;
  readonly zone: string;
  readonly askService: () => Promise<Probe>;
}): Promise<readonly Finding[]> {
  const now = new Date(clock());
  const local = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const day = ok(`it is ${local.format(now)} in ${zone}: run takes ${dayOfRun(now, zone).iso}`);
  const { aheadMs } = await askService();
  return aheadMs === undefined ? [day] : [day, ...compare(aheadMs)];
}

/** The day that `run` takes when none is named. */
export function dayOfRun(now: Date, zone: string): BusinessDay {
  return businessDayAt(now, zone).previous();
}

function compare(aheadMs: number): Finding[] {
  if (Math.abs(aheadMs) <= toleratedMs) return [];
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return [
    warning(
      `the clock of this machine is ${formatDuration(Math.abs(aheadMs))} ${direction} that of the service`,
      'Set the clock, best by NTP: a clock that is wrong makes run take the wrong day.',
    ),
  ];
}
