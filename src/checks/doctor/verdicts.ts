import { formatCountOf } from '../../base/format.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { readDayOutcomes } from '../../review/outcome/day-outcome.js';
import { type DeliveryKind, groupByDay } from '../../rules/run.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning } = findingsOf('verdicts');

/** The last nights in numbers. */
interface Nights {
  /** In which bookings were delivered. */
  readonly count: number;
  /** Bookings about which no result says anything: their verdicts come by e-mail. */
  readonly byBody: number;
}

const nightsCounted = 14;

/** Counts over the last days. */
export async function countNights(ledger: ReadOnlyLedger, today: BusinessDay): Promise<Nights> {
  let first = today;
  for (let night = 0; night < nightsCounted; night += 1) first = first.previous();
  const period = { from: first.iso, to: today.previous().iso };
  const runs = groupByDay(await ledger.runs.listOfDays(period));
  const outcomes = [...(await readDayOutcomes(ledger, period, runs)).values()];
  const delivered = outcomes.filter((one) => one.delivered > 0);
  const byBody = delivered.map((one) => (one.knowledge === 'by-email' ? one.delivered : one.posted));
  return { count: delivered.length, byBody: byBody.reduce((sum, one) => sum + one, 0) };
}

/**
 * Warns of verdicts that nobody reads.
 *
 * @param nights undefined if nothing is known of any
 */
export function checkVerdicts(delivery: DeliveryKind, nights: Nights | undefined): readonly Finding[] {
  const { count, byBody } = nights ?? { count: 0, byBody: 0 };
  if (delivery === 'file' && byBody === 0) return [];
  const average = Math.round(byBody / Math.max(1, count));
  const usual = average === 0 ? 'fewer than one booking' : `about ${formatCountOf(average, 'booking')}`;
  const figure =
    byBody === 0 ? '' : `${usual} a night went by body in the last ${formatCountOf(count, 'night')}: `;
  const finding = delivery === 'file' && average === 0 ? ok : warning;
  return [
    finding(
      `${figure}by body, verdicts come by e-mail only, and no mailbox is set up: nobody learns which of these bookings are on an incorrect mapping`,
      delivery === 'file'
        ? 'Say in the setting verdicts where these e-mails arrive; posted lists such bookings, and why they cannot be in the file.'
        : 'Say in the setting verdicts where these e-mails arrive, or deliver by file, whose result says it.',
    ),
  ];
}
