import { showInLine } from '../base/foreign-text.js';
import { formatCount, formatCountOf, formatDay, formatDayAndTime, shorten } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import { completeCommands, type WriteCommand } from '../base/shell.js';
import type { ChangeAction, DeskVisit, Preview, View } from './page.js';

/** Facts without a value are left out; null is unknown. */
export type Fact = readonly [name: string, value: Cell];

/** Known facts, line by line: numbers and texts as in a table. */
export function renderFacts(facts: readonly Fact[]): Html {
  return html`<dl>${facts.flatMap(([name, value]) =>
    value === undefined ? [] : html`<dt>${showInLine(name)}</dt><dd>${showCell(value)}</dd>`,
  )}</dl>`;
}

/** An address with these fields; those without a value are left out. */
export function writeAddress(
  path: string,
  fields: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value != null) query.append(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}

type Cell = Html | string | number | null | undefined;

interface TableOptions<Row> {
  /** Instead of a table without rows: what comes next. */
  readonly empty?: Html | string;
  /** A checkbox for each row, in a form around the table. */
  readonly choose?: {
    readonly name: string;
    /** Of all rows together. */
    readonly label: string;
    value(row: Row): string | number | undefined;
    labelOf(row: Row): string;
    isChosen?(row: Row): boolean;
  };
  /** A line of its own below a row. */
  note?(row: Row): Html | string | undefined;
}

/**
 * A table; on a phone each row becomes a card. The first column names the row. Numbers are formatted and aligned to the right; texts are
 * somebody else's, so their control characters are made visible; null is unknown. A column without a function is left out.
 */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, ((row: Row) => Cell) | false | undefined>>,
  { empty = 'None.', choose, note }: TableOptions<Row> = {},
): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const shown = Object.entries(columns).flatMap(([name, read]) => {
    if (!read) return [];
    const cells = rows.map(read);
    return [{ name, cells, isNumber: cells.some((cell) => typeof cell === 'number') }];
  });
  const number = (isNumber: boolean) => isNumber && html` class="number"`;
  const renderCell = (at: number, { name, cells, isNumber }: (typeof shown)[number], index: number) =>
    index === 0
      ? html`<th scope="row">${showCell(cells[at])}</th>`
      : html`<td data-about="${name}"${number(isNumber)}>${showCell(cells[at])}</td>`;
  const renderRow = (row: Row, at: number) => {
    const below = note?.(row);
    return html`<tr>${choose && renderChoice(choose, row)}${shown.map((column, index) => renderCell(at, column, index))}</tr>
${below && html`<tr class="note"><td colspan="${shown.length + (choose ? 1 : 0)}">${showCell(below)}</td></tr>`}`;
  };
  return html`<div class="wide" tabindex="0"><table class="cards"><thead><tr>${
    choose &&
    html`<th scope="col"><input type="checkbox" aria-label="${choose.label}" data-check-all hidden></th>`
  }${shown.map(({ name, isNumber }) => html`<th scope="col"${number(isNumber)}>${showInLine(name)}</th>`)}</tr></thead>
<tbody>${rows.map(renderRow)}</tbody></table></div>`;
}

function renderChoice<Row>(
  { name, value, labelOf, isChosen }: NonNullable<TableOptions<Row>['choose']>,
  row: Row,
): Html {
  const chosen = value(row);
  return chosen === undefined
    ? html`<td></td>`
    : html`<td class="pick"><input type="checkbox" name="${name}" value="${chosen}" aria-label="${labelOf(row)}"${isChosen?.(row) ? html` checked` : undefined}></td>`;
}

function showCell(cell: Cell): Html | string | undefined {
  if (cell === null) return html`<span class="faint">unknown</span>`;
  return typeof cell === 'number' ? formatCount(cell) : typeof cell === 'string' ? showInLine(cell) : cell;
}

/** 2026-11-26 as 26 Nov 2026 */
export const showDay = formatDay;

/** A day, with its page. */
export function linkDay(day: string): Html {
  return html`<a class="whole" href="/days/${encodeURIComponent(day)}">${showDay(day)}</a>`;
}

/** 26 Nov 2026, 21:30 in the account's time zone. @param instant epoch milliseconds, or as JSON has it */
export function showInstant(instant: number | string, { timezone }: { readonly timezone: string }): string {
  return formatDayAndTime(typeof instant === 'number' ? instant : Date.parse(instant), timezone);
}

/** Neither in a command nor in the name of a file. */
const dayInText = /`[^`]*`|(?<![\w./:=-])\d{4}-\d\d-\d\d(?![\w/-]|\.\w)/g;

/** What the engine says, as a page says it: with commands that can be copied, and days as people write them. */
export function showMessage(message: string, command: WriteCommand): string {
  return completeCommands(message, command).replace(dayInText, (found) =>
    found.startsWith('`') ? found : showDay(found),
  );
}

/** Entries of a long list on one page. */
export const entriesPerPage = 100;

/** A page of a list with that many entries; beyond the last one, the last. */
export function toPage(count: number, asked: number, size = entriesPerPage) {
  const pages = Math.max(1, Math.ceil(count / size));
  return { page: Math.min(asked, pages), pages, count };
}

/** The entries of a page. */
export function cutPage<Entry>(entries: readonly Entry[], asked: number, size = entriesPerPage) {
  const cut = toPage(entries.length, asked, size);
  return { ...cut, shown: entries.slice((cut.page - 1) * size, cut.page * size) };
}

/** The number of entries, and links to other pages. */
export function renderPages(
  { count, page, pages }: ReturnType<typeof toPage>,
  thing: string,
  linkTo: (page: number) => string,
): Html {
  const total = formatCountOf(count, thing);
  if (pages <= 1) return html`<p>${total}.</p>`;
  const step = (to: number, rel: 'prev' | 'next', words: string) =>
    to < 1 || to > pages ? undefined : html`<a rel="${rel}" href="${linkTo(to)}">${words}</a>`;
  return html`<nav class="buttons" aria-label="Pages">${step(page - 1, 'prev', 'Previous')}
<span>${total}: page ${formatCount(page)} of ${formatCount(pages)}</span>
${step(page + 1, 'next', 'Next')}</nav>`;
}

/** Values, and words for those where they differ. */
export type Choices = readonly (string | readonly [value: string, words: string])[];

/** A field that takes one of these values. */
export function renderSelect(label: string, name: string, choices: Choices, chosen = ''): Html {
  const options = choices.map((choice) => {
    const [value, words] = typeof choice === 'string' ? [choice, choice] : choice;
    return html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${showInLine(shorten(words, 60))}</option>`;
  });
  return html`<label>${label}<select name="${name}">${options}</select></label>`;
}

/** A form that changes something. */
export function renderPost(path: string, { csrfToken }: DeskVisit, fields: Html): Html {
  return html`<form class="change" method="post" action="${path}"><input type="hidden" name="token" value="${csrfToken ?? ''}">
${fields}</form>`;
}

/** Why somebody changes something, for the audit trail. */
export function renderReasonField(label: string, isRequired: boolean): Html {
  return html`<label>${label}${isRequired ? '' : ' (optional)'}<textarea name="reason" rows="2" maxlength="500"${isRequired && html` required`}></textarea></label>`;
}

/** What would happen, and the form that makes it happen. */
export function renderChangeForm(
  action: ChangeAction,
  { title = action.title, lines, details, refusal, fields, button, back, reason }: Preview,
  visit: DeskVisit,
): View {
  const { label, isRequired } = reason ?? { label: 'Reason', isRequired: action.reason === 'required' };
  return {
    title,
    content: html`${lines.map((line) => html`<p>${showInLine(line)}</p>`)}${details}
${
  refusal === undefined
    ? renderPost(
        visit.address,
        visit,
        html`${fields}${renderReasonField(label, isRequired)}
<p class="buttons"><button>${button}</button><a href="${back}">Back</a></p>`,
      )
    : html`<p class="card refusal">${showInLine(refusal)}</p><p><a href="${back}">Back</a></p>`
}`,
  };
}
