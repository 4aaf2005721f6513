import * as z from 'zod';
import { type Html, html } from '../../text/html.js';
import { dayField } from '../routing/fields.js';
import type { ShownDay } from './judge-shown-day.js';

const selections = ['missing', 'failed', 'late', 'all', 'none'] as const;

/** Which days to select in the calendar for a replay. Without `select`, the calendar offers no selection. */
export const selectionInput = z.object({
  select: z.enum(selections).optional(),
  from: z.union([z.literal(''), dayField]).optional(),
  to: z.union([z.literal(''), dayField]).optional(),
});

export function selectDays({ select, from, to }: z.output<typeof selectionInput>, days: readonly ShownDay[]) {
  if (select === undefined) return null;
  const range = { from: from || (days[0]?.day ?? ''), to: to || (days.at(-1)?.day ?? '') };
  const isWithin = ({ day }: ShownDay) => day >= range.from && day <= range.to;
  return {
    select,
    ...range,
    days: days.filter((day) => isWithin(day) && isSelected(day, select)).map(({ day }) => day),
  };
}

function isSelected(day: ShownDay, select: (typeof selections)[number]): boolean {
  switch (select) {
    case 'missing':
      return day.judgement === 'missing';
    case 'failed':
      return day.state === 'failed';
    case 'late':
      return day.isLate && !day.isGood;
    case 'all':
      return day.isDue;
    case 'none':
      return false;
  }
}

const words: Readonly<Record<(typeof selections)[number], string>> = {
  missing: 'missing days',
  failed: 'failed days',
  late: 'late days',
  all: 'all days',
  none: 'none',
};

/** Links to the selections, with the number of days in each. */
export function renderSelectionLinks(days: readonly ShownDay[]): Html {
  const links = (['missing', 'failed', 'late'] as const).flatMap((select) => {
    const count = days.filter((day) => isSelected(day, select)).length;
    return count === 0 ? [] : [html`<a href="/?select=${select}">${count} ${select}</a>`];
  });
  return html`<p class="buttons">Replay: ${links} <a class="button quiet" href="/?select=none">Select days…</a></p>`;
}

/** Asks which days of which range to select. The calendar below shows them and lets people change them. */
export function renderSelectionForm({
  select,
  from,
  to,
  days,
}: NonNullable<ReturnType<typeof selectDays>>): Html {
  return html`<form class="search card" method="get" action="/">
<label>Select<select name="select">${selections.map(
    (one) =>
      html`<option value="${one}"${one === select ? html` selected` : undefined}>${words[one]}</option>`,
  )}</select></label>
<label>From<input type="date" name="from" value="${from}"></label>
<label>To<input type="date" name="to" value="${to}"></label>
<button class="quiet">Select</button> <a href="/">Cancel</a></form>
<p>${days.length} selected. Change the selection in the calendar, then preview the replay.</p>`;
}
