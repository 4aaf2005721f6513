import { InvalidArgumentError } from 'commander';
import { formatCount, formatCountOf } from '../../src/base/format.js';
import type { WriteCommand } from '../../src/base/shell.js';
import { renderTable } from '../../src/base/tables.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { readDayOutcome } from '../../src/review/outcome/read-outcome.js';
import { type DayBookings, type DayOutcome, isEmptyDay, withoutRun } from '../../src/rules/day-outcome.js';
import { explainUnknown } from '../../src/rules/describe-day.js';
import { isActive, mayHaveResult } from '../../src/rules/run.js';
import { formatKnown, sumKnown } from '../../src/rules/run-verdicts.js';
import { answerBookings, readBookings, toRecords } from '../booking-list.js';
import { command, csvOptions, dayOption, flag, optionalDay, readRange } from '../command.js';
import { type ExitCode, exitCode, worstOf } from '../exit-code.js';

/**
 * Lists the bookings of a day or a range whose mapping its result marks as incorrect, or those without a verdict,
 * without guests' names. The default day is yesterday: falling back to an older one would hide that it has no result.
 */
export default command({
  place: ['common', 7],
  summary: "list a day's bookings whose mapping is incorrect, guests in house first",
  day: optionalDay(),
  options: {
    from: dayOption('--from <day>', 'the first day of a range'),
    to: dayOption('--to <day>', 'its last day (default: yesterday)'),
    checkInBefore: dayOption('--check-in-before <day>', 'only bookings with a check-in before this day'),
    unanswered: flag('--unanswered', "list the file's bookings without a verdict instead, and say why"),
    ...csvOptions,
  },
  examples: `
Examples:
  hotel-review affected                             yesterday's bookings
  hotel-review affected 2026-11-20 --csv wrong.csv  those of a day, as a file
  hotel-review affected --from 2026-11-01 --check-in-before 2026-12-01
  hotel-review affected 2026-11-20 --unanswered     those without a verdict`,

  read(given) {
    const { day, from, to } = given;
    if (day !== undefined && (from ?? to) !== undefined)
      throw new InvalidArgumentError('expected one day, or a range with --from and --to');
    if (to !== undefined && from === undefined)
      throw new InvalidArgumentError('--to needs --from: the first day of the range');
    return given;
  },

  async run(app, { day, from, to, checkInBefore, unanswered: listsUnanswered, csv, ...how }) {
    const { timezone } = app.config;
    const yesterday = createBusinessDay(app.today(), timezone).previous().iso;
    const isRange = from !== undefined;
    const first = from ?? day ?? yesterday;
    const range = { from: first, to: isRange ? (to ?? yesterday) : first };
    const days = readRange(range);
    const ledger = await app.findLedger();
    const verdicts: DayBookings[] = [];
    for (const one of days) verdicts.push(ledger ? await readDayOutcome(ledger, one) : withoutRun(one));
    const counts = verdicts.map(verdictsToJson);
    const totals = {
      unanswered: sumKnown(counts.map(({ unanswered }) => unanswered)),
      posted: counts.reduce((sum, { posted }) => sum + posted, 0),
    };
    const [only] = counts;
    const subject = isRange || !only ? range : { day: first, runId: only.runId, state: only.state };
    const byDay = isRange && { days: counts };
    const codes = verdicts.map(codeOfDay);
    if (!ledger) {
      const none = { ...subject, affected: null, ...totals, ...byDay };
      return app.answer(app.describeNoLedger(), none, worstOf(codes));
    }

    const sent = verdicts.flatMap((one) => one.sent);
    const affected = await readBookings(app, ledger, 'affected', sent, checkInBefore);
    const unanswered = listsUnanswered
      ? await readBookings(app, ledger, 'unanswered', sent, checkInBefore)
      : undefined;
    const list = unanswered ?? affected;
    const lists = unanswered ? 'unanswered' : 'affected';
    const shown = { days: verdicts, isRange, lists, count: list.count, checkInBefore } as const;
    const isKnown = list.count > 0 || verdicts.some(({ knowledge }) => knowledge === 'judged');
    // Unknown is null, never an empty list.
    const hasResult = counts.some((one) => one.affected !== null);
    const listed = {
      list,
      isRange,
      areDoubted: !unanswered,
      look: {
        action: 'affected',
        subject: isRange ? `${range.from} to ${range.to}` : first,
        details: { lists },
      },
      head: renderHead(shown),
      notes: [
        ...(isRange ? renderDays(verdicts) : verdicts.flatMap(describeNewer)),
        ...describeOthers(shown, app.command),
      ],
      json: {
        ...subject,
        affected: hasResult ? toRecords(affected, isRange) : null,
        ...totals,
        ...(unanswered && { unansweredBookings: toRecords(unanswered, isRange) }),
        ...byDay,
      },
    } as const;
    const file = { ...how, csv: isKnown ? csv : undefined };
    return answerBookings(app, ledger, listed, file, worstOf(codes));
  },
});

function verdictsToJson(outcome: DayOutcome) {
  const { day, run, affected, unanswered, posted } = outcome;
  return {
    day,
    runId: run?.id ?? null,
    state: run?.state ?? null,
    affected: isEmptyDay(outcome) ? 0 : affected,
    unanswered,
    posted,
  };
}

/**
 * It depends on results alone: what comes by e-mail is not waited for. A result that is still to come is pending; one that does not come
 * unless a failed run goes on is a failure.
 */
function codeOfDay(outcome: DayOutcome): ExitCode {
  const { knowledge, runs } = outcome;
  switch (knowledge) {
    case 'judged':
      return runs.some(({ state }) => state === 'awaiting-result') ? exitCode.resultPending : exitCode.done;
    case 'awaiting-result':
      return runs.some(isActive) ? exitCode.resultPending : exitCode.failed;
    case 'nothing-sent':
      return isEmptyDay(outcome) || !runs.some(mayHaveResult) ? exitCode.done : exitCode.failed;
    case 'by-email':
      return exitCode.done;
    case 'no-run':
      return exitCode.failed;
  }
}

/** What `affected` lists. */
interface VerdictListing {
  /** One day, or the days of a range. */
  readonly days: readonly DayOutcome[];
  readonly isRange: boolean;
  readonly lists: 'affected' | 'unanswered';
  readonly count: number;
  readonly checkInBefore?: string | undefined;
}

const names = { affected: 'affected bookings', unanswered: 'bookings without a verdict' };

/** What stands above the list: how many there are, or why none are known. */
function renderHead({ days, isRange, lists, count, checkInBefore }: VerdictListing): string {
  const filter = checkInBefore === undefined ? '' : ` with check-in before ${checkInBefore}`;
  const found = `${names[lists]}${filter}: ${formatCount(count)}`;
  const [only] = days;
  if (isRange || !only) {
    const isKnown = lists !== 'affected' || days.some((day) => day.knowledge === 'judged' || isEmptyDay(day));
    return `${days.at(0)?.day} to ${days.at(-1)?.day}: ${isKnown ? found : 'no result is known.'}`;
  }
  const unknown = explainUnknown(only);
  if (unknown !== undefined) return unknown;
  const { day, unanswered } = only;
  const run = `(run ${only.run?.id})`;
  if (count > 0) return `${day}: ${found} ${run}`;
  if (lists === 'unanswered')
    return `${day}: no booking of the file${filter} is listed without a verdict ${run}.`;
  const doubt = unanswered === 0 ? '' : ', but some have no verdict';
  return `${day}: the result marks no booking${filter} as affected${doubt} ${run}.`;
}

function describeNewer({ newer }: DayOutcome): string[] {
  if (!newer) return [];
  return [`This is the latest result. Run ${newer.id} is newer (by ${newer.delivery}, ${newer.state}).`];
}

/** In place of how many are affected. */
const noResult = {
  'nothing-sent': 'none sent',
  'by-email': 'by e-mail',
  'awaiting-result': 'no result',
  'no-run': '-',
};

function renderDays(days: readonly DayOutcome[]): string[] {
  const rows = days.map(({ day, knowledge, run, affected, unanswered, posted }) => [
    day,
    knowledge === 'judged' ? formatKnown(affected ?? 'unknown') : noResult[knowledge],
    unanswered === null ? '-' : formatCount(unanswered),
    knowledge === 'by-email' ? 'all' : formatCount(posted),
    knowledge === 'no-run' ? 'no run' : run?.id,
  ]);
  return ['by day:', renderTable(rows, ['day', 'affected', 'no verdict', 'by e-mail only', 'run'])];
}

/** How many bookings the list says nothing about. */
function describeOthers(
  { days, isRange, lists, count, checkInBefore }: VerdictListing,
  command: WriteCommand,
): string[] {
  const sent = days.filter(({ knowledge }) => knowledge !== 'nothing-sent');
  const unanswered = sent.reduce((sum, day) => sum + (day.unanswered ?? 0), 0);
  const posted = sent.reduce((sum, day) => sum + day.posted, 0);
  const hasFile = sent.some((day) => day.unanswered !== null);
  const range = isRange ? `--from ${days.at(0)?.day} --to ${days.at(-1)?.day}` : `${days.at(0)?.day}`;
  const lines: string[] = [];
  if (hasFile && !isRange && unanswered === 0) lines.push('Every booking of the file has a verdict.');
  if (unanswered > 0)
    lines.push(
      `${formatCountOf(unanswered, 'booking')} of the file without a verdict` +
        (lists === 'affected' ? `; to list them: ${command(`affected ${range} --unanswered`)}` : '.'),
    );
  const unlisted = unanswered - count;
  if (lists === 'unanswered' && checkInBefore === undefined && unlisted > 0)
    lines.push(`${formatCount(unlisted)} of them can't be listed: which they are is not recorded.`);
  if (posted > 0) lines.push(`${formatCount(posted)} went by body: their verdicts come by e-mail only.`);
  else if (hasFile && !isRange) lines.push('None went by body.');
  if (posted > 0 || days.some(({ knowledge }) => knowledge === 'by-email'))
    lines.push(`To see what the e-mails have named: ${command('cases')}`);
  return lines;
}
