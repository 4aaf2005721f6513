import { createHash } from 'node:crypto';
import { invalidAnswer } from '../service/errors.js';
import type { MappingsPage } from '../service/operations.js';

/**
 * One reading of a cycle's pages: from its lower bound, or from where it was interrupted, until a key is refused. Comparing
 * two of them shows whether a refused key was that of the last page.
 */
export interface SyncPass {
  /** Mappings per page. */
  limit: number;
  /** Whether the limit was lowered, and no page has come since. */
  isLowered: boolean;
  readonly pager: Pager;
  /** How many rows changed the copy. */
  changes: number;
  /** The number of rows of the longest page but the last. */
  longest: number;
  last: MappingsPage | undefined;
  /** The last page of the pass before this one. */
  readonly lastBefore: MappingsPage | undefined;
}

/** The first pass of a sync. */
export function startPass(limit: number): SyncPass {
  return {
    limit,
    isLowered: false,
    pager: createPager(),
    changes: 0,
    longest: 0,
    last: undefined,
    lastBefore: undefined,
  };
}

/**
 * The pass after one that ended at a refused key. After a full page it asks for pages of another length: if the full page
 * was the last one, the last page is shorter now, and if more mappings follow, it is full again.
 */
export function startNextPass(before: SyncPass): SyncPass {
  const { limit, isLowered, last } = before;
  const nextLimit = last && isFull(last, before) ? otherLimit(limit) : limit;
  return { ...startPass(nextLimit), isLowered, lastBefore: last };
}

/** What any account is expected to allow: the service's default. */
const leastLimit = 10;

/** Halves the limit after the service refused it, or answered too much. Returns false where it can't be lower. */
export function lowerLimit(pass: SyncPass): boolean {
  if (pass.limit <= leastLimit) return false;
  pass.limit = Math.max(leastLimit, Math.floor(pass.limit / 2));
  pass.isLowered = true;
  return true;
}

/** Counts a page that was stored. */
export function addPage(pass: SyncPass, page: MappingsPage, changes: number): void {
  if (pass.last) pass.longest = Math.max(pass.longest, countRows(pass.last));
  pass.last = page;
  pass.changes += changes;
  pass.isLowered = false;
}

/**
 * Whether a refused key turns out to be that of the last page: the pages were read again from the lower bound, nothing in them
 * was new, the key after the same page was refused again, and that page was not full.
 */
export function isOverAtKey(pass: SyncPass): boolean {
  const { changes, last, lastBefore } = pass;
  if (!last || !lastBefore || changes > 0) return false;
  return !isFull(last, pass) && digestOf(last) === digestOf(lastBefore);
}

function isFull(page: MappingsPage, { limit, longest }: SyncPass): boolean {
  return countRows(page) >= (longest === 0 ? limit : Math.min(limit, longest));
}

const countRows = ({ Mappings, skipped }: Page) => Mappings.length + skipped.length;

/** The account may not allow a higher one. One mapping per page would make every page a full one. */
function otherLimit(limit: number): number {
  return limit > 3 ? limit - 1 : limit + 1;
}

type Page = Pick<MappingsPage, 'ResumeKey' | 'Mappings' | 'skipped'>;

/** How many consecutive pages may contain nothing new. */
const mostWithoutNews = 10;

/** Follows the pages of one retrieval. */
interface Pager {
  /**
   * The key of the page after this one; undefined when this was the last.
   *
   * @param sentKey the key with which the page was requested
   * @throws MappingServiceError when the pages would never end
   */
  next(page: Page, sentKey: string | undefined): string | undefined;
}

/**
 * Decides after each page whether another one follows. The specification shows neither what the last page looks like, so a page
 * without rows or without a key is the last, nor whether keys differ, so a page is judged by its rows: one that only repeats an
 * earlier page of the retrieval is nothing new, and a service that returns such pages for ever is not called for ever.
 */
export function createPager(): Pager {
  const seen = new Set<string>();
  let previous: string | undefined;
  let withoutNews = 0;
  return {
    next(page, sentKey) {
      const key = keyOf(page);
      if (key === undefined || countRows(page) === 0) return undefined;
      const digest = digestOf(page);
      if (key === sentKey && digest === previous)
        throw endless(
          'expected a ResumeKey for the next page, got: the key that was sent, and the same page again',
        );
      withoutNews = seen.has(digest) ? withoutNews + 1 : 0;
      if (withoutNews >= mostWithoutNews)
        throw endless(
          `expected a last page, got: ${withoutNews} pages in a row with a ResumeKey and nothing new`,
        );
      seen.add(digest);
      previous = digest;
      return key;
    },
  };
}

/** A blank key means none. */
function keyOf({ ResumeKey: key }: Page): string | undefined {
  return typeof key === 'string' && key.trim() !== '' ? key : undefined;
}

function endless(message: string) {
  return invalidAnswer('getMappings', { field: 'ResumeKey', message });
}

/** The same rows in the same order have the same digest. */
function digestOf({ Mappings, skipped }: Page): string {
  return createHash('sha256')
    .update(JSON.stringify([Mappings, skipped]))
    .digest('base64');
}
