import { formatCountOf } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { renderPaging } from './facts.js';

/** Entries of a long list on one page. */
export const entriesPerPage = 100;

export interface ListPage {
  /** Of the whole list. */
  readonly count: number;
  readonly page: number;
  readonly pages: number;
}

export function toPage(count: number, page: number): ListPage {
  return { count, page, pages: Math.ceil(count / entriesPerPage) };
}

/** How many entries come before a page. */
export function entriesBefore(page: number): number {
  return (page - 1) * entriesPerPage;
}

/** The entries of a page, from a list that is read in chunks. */
export async function takePage<Entry>(
  chunks: AsyncIterable<readonly Entry[]>,
  page: number,
): Promise<Entry[]> {
  const taken: Entry[] = [];
  let skip = entriesBefore(page);
  for await (const entries of chunks) {
    taken.push(...entries.slice(skip, skip + entriesPerPage - taken.length));
    skip = Math.max(0, skip - entries.length);
    if (taken.length === entriesPerPage) break;
  }
  return taken;
}

/** The number of entries, and links to other pages. */
export function renderPages(
  { count, page, pages }: ListPage,
  thing: string,
  linkTo: (page: number) => string,
): Html {
  const total = formatCountOf(count, thing);
  return renderPaging({ page, pages, total, linkTo }) ?? html`<p>${total}.</p>`;
}
