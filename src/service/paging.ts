import { createHash } from 'node:crypto';
import { invalidAnswer } from './call-with-retries.js';
import type { LastPage, MappingsPage } from './operations.js';

/** How the end of the pages of mappings is recognised. */
export interface PagingRules {
  readonly lastPage: LastPage;
  /** How many consecutive pages may contain nothing new. */
  readonly maxPagesWithoutNews: number;
}

/** Services differ in what the last page looks like, so whichever sign comes first counts. */
export const usualPaging: PagingRules = { lastPage: 'either', maxPagesWithoutNews: 10 };

type Page = Pick<MappingsPage, 'ResumeKey' | 'Mappings' | 'skipped'>;

/** Follows the pages of one retrieval. */
export interface Pager {
  /**
   * The key of the page after this one; undefined when this was the last.
   *
   * @param sentKey the key with which the page was requested
   * @throws MappingServiceError when the pages would never end
   */
  next(page: Page, sentKey: string | undefined): string | undefined;
}

/**
 * Decides after each page whether another one follows. The specification shows neither what the key of the last page
 * looks like nor whether keys differ, so a page is judged by its rows: one that has none, or only repeats an earlier
 * page of the retrieval, is nothing new, and a service that returns such pages for ever is not called for ever.
 */
export function createPager({ lastPage, maxPagesWithoutNews }: PagingRules): Pager {
  const seen = new Set<string>();
  let previous: string | undefined;
  let withoutNews = 0;

  return {
    next(page, sentKey) {
      const isEmpty = page.Mappings.length + page.skipped.length === 0;
      const key = keyOf(page);
      if (isLast(isEmpty, key)) return undefined;

      const digest = digestOf(page);
      if (key === sentKey && digest === previous) {
        throw endless(
          'expected a ResumeKey for the next page, got: the key that was sent, and the same page again',
        );
      }
      withoutNews = isEmpty || seen.has(digest) ? withoutNews + 1 : 0;
      if (withoutNews >= maxPagesWithoutNews) {
        throw endless(
          `expected a last page, got: ${withoutNews} pages in a row with a ResumeKey and nothing new`,
        );
      }
      seen.add(digest);
      previous = digest;
      return key;
    },
  };

  function isLast(isEmpty: boolean, key: string | undefined): boolean {
    switch (lastPage) {
      case 'either':
        return isEmpty || key === undefined;
      case 'null-key':
        return key === undefined;
      case 'empty-page':
        if (isEmpty) return true;
        if (key !== undefined) return false;
        throw endless('expected a ResumeKey on every page before the empty one, got: none');
    }
  }
}

/** A blank key means none. */
function keyOf({ ResumeKey: key }: Page): string | undefined {
  return typeof key === 'string' && key.trim() !== '' ? key : undefined;
}

function endless(message: string) {
  return invalidAnswer('getMappings', { field: 'ResumeKey', message });
}

/** The same rows in the same order have the same digest. */
export function digestOf({ Mappings, skipped }: Pick<Page, 'Mappings' | 'skipped'>): string {
  return createHash('sha256')
    .update(JSON.stringify([Mappings, skipped]))
    .digest('base64');
}
