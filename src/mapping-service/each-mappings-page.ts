import { isDeepStrictEqual } from 'node:util';
import { invalidAnswer } from './call-error.js';
import type { MappingsPage } from './operations.js';

/**
 * All pages of Get Mappings (spec 4.1), one after another, from that resume key on; ends behind the page without one.
 *
 * @throws MappingServiceError when the service goes on handing out the same page under the same key
 */
export async function* eachMappingsPage(
  getPage: (resumeKey: string | undefined) => Promise<MappingsPage>,
  firstKey: string | undefined,
): AsyncGenerator<MappingsPage, void, undefined> {
  let sentKey = firstKey;
  let rowsBefore: MappingsPage['Mappings'] | undefined;
  while (true) {
    const page = await getPage(sentKey);
    const { ResumeKey: key, Mappings: rows } = page;
    if (rowsBefore !== undefined && key === sentKey && isDeepStrictEqual(rows, rowsBefore)) {
      throw invalidAnswer('getMappings', {
        field: 'ResumeKey',
        message: 'expected ResumeKey to lead on, got: the key that was sent, with the same page again',
      });
    }
    yield page;
    if (isBlank(key)) return;
    sentKey = key;
    rowsBefore = rows;
  }
}

/** What asks for no further page, as an answer has it. */
export function isBlank(key: string | null | undefined): key is '' | null | undefined {
  return key === undefined || key === null || key.trim() === '';
}
