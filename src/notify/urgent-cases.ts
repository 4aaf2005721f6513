import { businessDayAt } from '../booking/business-day.js';
import { urgencyOf } from '../booking/stay.js';
import type { Ledger } from '../ledger/ledger.js';
import type { CaseSummary } from '../ledger/listed-cases.js';
import type { Told } from '../ledger/notices.js';
import type { NewNotice } from '../rules/notice.js';

/** Of the cases that one look finds urgent, so many get a message each. */
const toldSingly = 20;

/** A guest is in house, checks in today or tomorrow, or nobody knows when. The most urgent first; for one case and check-in day always the same. */
export async function findUrgentCases(
  { ledger, timezone }: { readonly ledger: Ledger; readonly timezone: string },
  now: number,
): Promise<NewNotice[]> {
  const date = businessDayAt(new Date(now), timezone);
  const days = { today: date.iso, checkInBefore: date.next().next().iso };
  return (await ledger.cases.list(days))
    .filter(({ state, openBookings }) => openBookings > 0 && state !== 'dismissed')
    .flatMap((item) => describeUrgent(item, days, now))
    .sort((one, other) => (one.urgency < other.urgency ? -1 : Number(one.urgency > other.urgency)))
    .map(({ notice }) => notice);
}

/** Guests in house must not hide one who arrives next, and the other way round. */
function describeUrgent(
  item: CaseSummary,
  { today, checkInBefore }: { readonly today: string; readonly checkInBefore: string },
  now: number,
) {
  const { id, state, openBookings, hasUnknownCheckIn, nextCheckIn, inHouse } = item;
  const common = { case: String(id), state, openBookings };
  const raise = (day: string, facts: NewNotice['facts']): NewNotice => ({
    event: 'case-urgent',
    subject: `case ${id} on ${day}`,
    facts: { ...common, ...facts },
    raisedAt: now,
  });
  const found: { readonly urgency: string; readonly notice: NewNotice }[] = [];
  if (inHouse > 0) {
    const { firstCheckIn: since = unknownDay, inHouseUntil: until = unknownDay } = item;
    const notice = raise(since, { inHouseSince: since, inHouseUntil: until });
    found.push({ urgency: `0${since}`, notice });
  }
  if (hasUnknownCheckIn || (nextCheckIn !== undefined && nextCheckIn < checkInBefore)) {
    const notice = raise(nextCheckIn ?? unknownDay, { firstCheckIn: nextCheckIn ?? unknownDay });
    found.push({
      urgency: urgencyOf({ checkIn: hasUnknownCheckIn ? undefined : nextCheckIn }, today),
      notice,
    });
  }
  return found;
}

const unknownDay = 'an unknown day';

/** Nobody reads hundreds of messages: of those that one look raised, one message tells how many there are besides the most urgent. */
export function tellUrgent(raised: readonly NewNotice[]): Told {
  const singly = raised.slice(0, toldSingly);
  const others = raised.slice(toldSingly);
  const [first] = others;
  if (!first) return { singly };
  const countCases = (notices: readonly NewNotice[]) => new Set(notices.map(({ facts }) => facts.case)).size;
  const together: NewNotice = {
    event: 'case-urgent',
    // The first of them is raised once, so no other message is about these.
    subject: `more from ${first.subject}`,
    facts: {
      cases: countCases(others),
      inHouse: countCases(others.filter(({ facts }) => facts.inHouseSince !== undefined)),
    },
    raisedAt: first.raisedAt,
  };
  return { singly, together };
}
