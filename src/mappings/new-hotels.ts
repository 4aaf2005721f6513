import type { MappingCopy, NewMasterHotel } from './mapping-copy.js';

const pageSize = 1_000;

/** The master hotels that no list has named yet, page by page, in the order in which they were met. */
export async function* readNewHotels(
  copy: Pick<MappingCopy, 'listNewHotels'>,
): AsyncGenerator<readonly NewMasterHotel[], void, undefined> {
  let after = 0;
  for (;;) {
    const page = await copy.listNewHotels({ after, limit: pageSize });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.number;
  }
}
