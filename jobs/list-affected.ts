import { createBusinessDay } from '../src/booking/business-day.js';
import type { CasedBooking } from '../src/cases/booked-cases.js';
import { renderVerdictHead, renderVerdictNotes } from '../src/cli/affected.js';
import type { AffectedOptions } from '../src/cli/commands/history.js';
import { type ExitCode, exitCode, worstOf } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { type DayVerdicts, sumKnown, summariseVerdicts } from '../src/review/verdicts/day-verdicts.js';
import {
  type BookingList,
  listAffected as findAffected,
  listUnanswered,
} from '../src/review/verdicts/listing.js';
import { UsageError } from '../src/text/usage-error.js';
import { readDayIn } from './days.js';
import { answerBookings, completeList, readFilter, runsLookedAt, toRecords } from './list-bookings.js';
import { withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

const daysAtOnce = 1_000;

interface Days {
  readonly from: string;
  readonly to: string;
  readonly isRange: boolean;
}

/**
 * Lists the bookings of a day or a range whose mapping its result marks as incorrect, or those without a verdict,
 * without guests' names. The default day is yesterday: falling back to an older one would hide that it has no result.
 */
export async function listAffected(
  config: Config,
  options: AffectedOptions,
  terminal: Terminal,
): Promise<number> {
  const days = chooseDays(options, config);
  const isoDays = listDays(days, config);
  const reportNone = (notice: string): number => {
    const unknown = isoDays.map((iso) => summariseVerdicts(iso, []));
    terminal.answer(`${notice}\n`, toObject(days, unknown, {}));
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const verdicts: DayVerdicts[] = [];
    for (const iso of isoDays)
      verdicts.push(summariseVerdicts(iso, await ledger.listRuns({ day: iso, limit: runsLookedAt })));
    const { csv, checkInBefore, ...how } = options;
    const filter = { ...readFilter(config), checkInBefore };
    const affected = completeList(await findAffected(ledger, verdicts, filter), ledger);
    const unanswered = options.unanswered
      ? completeList(await listUnanswered(ledger, verdicts, filter), ledger)
      : undefined;
    const list = unanswered ?? affected;
    const lists = unanswered ? 'unanswered' : 'affected';
    const listing = {
      days: verdicts,
      isRange: days.isRange,
      lists,
      count: list.count,
      checkInBefore,
    } as const;
    const isKnown = list.count > 0 || verdicts.some(({ knowledge }) => knowledge === 'judged');
    const subject = days.isRange ? `${days.from} to ${days.to}` : days.from;
    const listed = {
      list,
      isRange: days.isRange,
      areDoubted: lists === 'affected',
      look: { action: 'affected', subject, details: { lists } },
      head: renderVerdictHead(listing),
      notes: renderVerdictNotes(listing, terminal.command),
      json: toObject(days, verdicts, { affected, unanswered }),
    } as const;
    const target = { ...how, ...(isKnown && csv !== undefined && { csv }) };
    await answerBookings(listed, target, { config, ledger, terminal });
    return worstOf(verdicts.map(exitCodeOfDay));
  });
}

function chooseDays({ day, from, to }: AffectedOptions, { timezone }: Config): Days {
  const yesterday = readDayIn(timezone).iso;
  if (from === undefined) return { from: day ?? yesterday, to: day ?? yesterday, isRange: false };
  const last = to ?? yesterday;
  if (last < from) throw new UsageError(`--to ${last} is before --from ${from}`);
  return { from, to: last, isRange: true };
}

function listDays({ from, to }: Days, { timezone }: Config): string[] {
  const days: string[] = [];
  for (let day = createBusinessDay(from, timezone); day.iso <= to; day = day.next()) {
    if (days.length === daysAtOnce)
      throw new UsageError(`the range is longer than ${daysAtOnce} days; name a shorter one`);
    days.push(day.iso);
  }
  return days;
}

interface Lists {
  readonly affected?: BookingList<CasedBooking>;
  readonly unanswered?: BookingList<CasedBooking> | undefined;
}

/** What `--json` prints. Unknown is null, never an empty list. */
function toObject(
  days: Days,
  verdicts: readonly DayVerdicts[],
  { affected, unanswered }: Lists,
): Record<string, unknown> {
  const counts = verdicts.map(countVerdicts);
  const listed = {
    affected: counts.some((one) => one.affected !== null)
      ? affected && toRecords(affected, days.isRange)
      : null,
    unanswered: sumKnown(counts.map((one) => one.unanswered)),
    posted: counts.reduce((sum, { posted }) => sum + posted, 0),
    ...(unanswered && { unansweredBookings: toRecords(unanswered, days.isRange) }),
  };
  const [only] = counts;
  return days.isRange || !only
    ? { from: days.from, to: days.to, ...listed, days: counts }
    : { day: only.day, runId: only.runId, state: only.state, ...listed };
}

function countVerdicts({ day, runs: [run], knowledge, affected, unanswered, posted }: DayVerdicts) {
  return {
    day,
    runId: run?.id ?? null,
    state: run?.state ?? null,
    affected: knowledge === 'nothing-sent' ? 0 : affected,
    unanswered,
    posted,
  };
}

function exitCodeOfDay({ knowledge, runs }: DayVerdicts): ExitCode {
  const isAwaiting = runs.some(({ state }) => state === 'awaiting-result');
  switch (knowledge) {
    case 'judged':
      return isAwaiting ? exitCode.resultPending : exitCode.done;
    case 'nothing-sent':
      return exitCode.done;
    case 'awaiting-result':
      return isAwaiting ? exitCode.resultPending : exitCode.failed;
    case 'by-email':
    case 'no-run':
      return exitCode.failed;
  }
}
