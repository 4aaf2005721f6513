import { breakHostNames } from '../base/foreign-text.js';
import { formatCount, formatCountOf } from '../base/format.js';
import type { WriteCommand } from '../base/shell.js';
import { businessDayAt } from '../booking/business-day.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { countDaysBehind } from '../rules/good-day.js';
import type { Notice } from '../rules/notice.js';
import type { Composed } from './channel.js';
import { describeDigest, describeNotice, type Situation } from './describe-notice.js';

export interface ComposeParts {
  readonly ledger: ReadOnlyLedger;
  readonly timezone: string;
  /** Where people reach the page of `serve`. */
  readonly publicUrl?: string | undefined;
  readonly command: WriteCommand;
  readonly clock: () => number;
  /** How a day went, in a sentence and as a page. */
  readonly reportDay: (day: string) => Promise<{ readonly headline: string; readonly page: Buffer }>;
}

/**
 * The words of a message about these notices, which are of one kind, as things are now.
 *
 * @param options only an e-mail carries files
 */
export async function composeMessage(
  notices: readonly Notice[],
  parts: ComposeParts,
  { takesFiles }: { readonly takesFiles: boolean },
): Promise<Composed> {
  const [first] = notices;
  const { publicUrl } = parts;
  // Only the list shows them all.
  const isOfMany = first?.event === 'case-urgent' && first.facts.cases !== undefined;
  const link =
    publicUrl === undefined ? {} : { url: isOfMany ? new URL('/cases', publicUrl).href : publicUrl };
  if (first?.event === 'morning-digest' && first.day !== undefined) {
    const { page, ...words } = await composeMorningDigest(first.day, parts);
    const name = `report-${first.day}.html`;
    const attachments = [{ name, contentType: 'text/html; charset=utf-8', content: page }];
    return { ...words, ...link, ...(takesFiles && { attachments }) };
  }
  const situation = await readSituation(parts);
  const each = notices.map((notice) => describeNotice(withBrokenNames(notice), situation));
  const [only] = each;
  return { ...(only && each.length === 1 ? only : describeDigest(each)), ...link };
}

/** What others chose, such as a provider's name, must not become a link. */
const withBrokenNames = (notice: Notice) => changeTexts(notice, breakHostNames);

/** The same with other texts in its facts. */
export function changeTexts(notice: Notice, change: (text: string, name: string) => string): Notice {
  const facts = Object.entries(notice.facts).map(([name, fact]) => [
    name,
    typeof fact === 'string' ? change(fact, name) : fact,
  ]);
  return { ...notice, facts: Object.fromEntries(facts) };
}

async function readSituation({ ledger, timezone, command, clock }: ComposeParts): Promise<Situation> {
  const now = clock();
  const today = businessDayAt(new Date(now), timezone);
  const { lastGoodDay } = await ledger.runs.summarise(today);
  const tomorrow = today.next().iso;
  const urgent = await ledger.cases.list({ today: today.iso, checkInBefore: tomorrow });
  return {
    daysWithoutReview: lastGoodDay === undefined ? undefined : countDaysBehind(lastGoodDay, now, timezone),
    checkInsToday: urgent.filter(({ nextCheckIn }) => nextCheckIn === today.iso).length,
    inHouse: urgent.filter(({ inHouse }) => inHouse > 0).length,
    command,
  };
}

async function composeMorningDigest(day: string, parts: ComposeParts) {
  const { ledger, timezone, command, clock } = parts;
  const { headline, page } = await parts.reportDay(day);
  const today = businessDayAt(new Date(clock()), timezone).iso;
  const cases = await ledger.cases.list({ today });
  const nearest = cases.flatMap(({ nextCheckIn }) => nextCheckIn ?? []).sort()[0];
  const inHouse = cases.filter((item) => item.inHouse > 0).length;
  const urgent = [
    ...(inHouse > 0 ? [`${formatCount(inHouse)} of them with guests in house`] : []),
    ...(nearest !== undefined || inHouse === 0
      ? [`the nearest check-in on ${nearest ?? 'an unknown day'}`]
      : []),
  ];
  const problems = await ledger.notices.listProblems();
  const { givenUp, perhapsReceived } = await ledger.notices.countMessages();
  const lines = [
    cases.length === 0
      ? 'No case has an open booking.'
      : `${formatCountOf(cases.length, 'case')} with open bookings, ${urgent.join(', ')}: ${command('cases')}`,
    ...problems.map(
      (problem) => `Still: ${describeNotice(withBrokenNames(problem), { checkInsToday: 0, command }).title}`,
    ),
    ...(givenUp > 0 ? [`${formatCountOf(givenUp, 'message')} could not be sent`] : []),
    ...(perhapsReceived > 0
      ? [`${formatCountOf(perhapsReceived, 'message')} not confirmed, perhaps received`]
      : []),
    `More: ${command(`report ${day}`)}`,
  ];
  return { title: `Reviews of ${day}: ${breakHostNames(headline)}`, text: lines.join('\n'), page };
}
