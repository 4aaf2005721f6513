import type { DayPlan } from '../review/day/range-plan.js';
import { formatCountOf, wrapText } from '../text/format.js';
import { renderTable } from './tables.js';

/** What a replay would do with a day. */
export interface PlannedDay {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly plan: DayPlan;
}

/** The object that `--dry-run --json` prints of a range. */
export function toPlanObject(days: readonly PlannedDay[]): object {
  return {
    dryRun: true,
    days: days.map(({ day, plan }) => ({
      day,
      action: plan.action,
      runId: 'run' in plan ? (plan.run?.id ?? null) : null,
      ...('replaces' in plan && { replaces: plan.replaces }),
      ...(plan.action === 'nothing' && { why: plan.why }),
      ...(plan.action === 'refused' && { why: plan.message }),
    })),
  };
}

/** A line a day: what would be done with it; below them why days would be refused. */
export function renderRangePlan(days: readonly PlannedDay[]): string {
  const begun = days.filter(({ plan }) => plan.action !== 'nothing' && plan.action !== 'refused');
  return [
    `dry run: ${formatCountOf(begun.length, 'day')} of ${days.length} would be reviewed; nothing was sent`,
    renderTable(days.map(({ day, plan }) => [day, describePlan(plan)])),
    ...days.flatMap(({ day, plan }) =>
      plan.action === 'refused' ? [`${day}:`, ...wrapText(plan.message)] : [],
    ),
    '',
  ].join('\n');
}

function describePlan(plan: DayPlan): string {
  switch (plan.action) {
    case 'new-run':
      return `new run${giveUp(plan)}`;
    case 'resume':
      return `go on with run ${plan.run.id} (${plan.run.state})`;
    case 'top-up':
      return `late bookings: top-up of run ${plan.run.id}${giveUp(plan)}`;
    case 'nothing':
      return plan.run
        ? `nothing: it ${plan.why} (${plan.run.id}, ${plan.run.state})`
        : `nothing: it ${plan.why}`;
    case 'refused':
      return `refused: run ${plan.run.id} is ${plan.run.state}`;
  }
}

function giveUp({ replaces }: { readonly replaces?: string }): string {
  return replaces === undefined ? '' : `; gives up run ${replaces}`;
}
