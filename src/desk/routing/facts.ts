import { showInLine } from '../../text/foreign-text.js';
import { formatCount } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';

/** A name and its value; facts without a value are left out. Control characters are made visible. */
export type Fact = readonly [name: string, value: Html | string | number | undefined];

/** Known facts, line by line. */
export function renderFacts(facts: readonly Fact[]): Html {
  return html`<dl class="facts">${facts.flatMap(([name, value]) =>
    value === undefined ? [] : html`<dt>${showInLine(name)}</dt><dd>${showText(value)}</dd>`,
  )}</dl>`;
}

function showText(value: Html | string | number): Html | string | number {
  return typeof value === 'string' ? showInLine(value) : value;
}

/** An address with these fields; those without a value are left out. */
export function writeAddress(
  path: string,
  fields: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return query === '' ? path : `${path}?${query}`;
}

interface PageOfMany {
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  /** The number of all entries in words, such as `5,000 cases`. */
  readonly total: string;
  /** The address of a page. */
  linkTo(page: number): string;
}

/** The position in a long list, with links to the other pages; nothing for a list of one page. */
export function renderPaging({ page, pages, total, linkTo }: PageOfMany): Html | undefined {
  if (pages <= 1) return undefined;
  const step = (to: number, rel: 'prev' | 'next', words: string) =>
    to < 1 || to > pages ? undefined : html`<a rel="${rel}" href="${linkTo(to)}">${words}</a>`;
  return html`<nav class="buttons" aria-label="Pages">${step(page - 1, 'prev', 'Previous')}
<span>${total}: page ${formatCount(page)} of ${formatCount(pages)}</span>
${step(page + 1, 'next', 'Next')}</nav>`;
}
