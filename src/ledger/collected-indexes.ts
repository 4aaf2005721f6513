import { noReference } from '../booking/reference-hash.js';
import type { CollectedBatch } from './collecting.js';
import { createHashIndex, type HashPage } from './hash-index.js';
import { type Dialect, insert, type Query } from './query.js';
import { createStayIndex } from './stay-index.js';
import { insertStayPages } from './stays.js';
import { type BookingForm, bookingForms } from './step.js';

interface Index {
  readonly isFull: boolean;
  /** Writes its pages; a repeated call writes the same ones. */
  store(): Query<void>;
  clear(): void;
}

/**
 * The indexes of a run that is being collected: by reference and by provider hotel, for each form. A full index is
 * written with the next chunk.
 */
export function createCollectedIndexes(
  dialect: Dialect,
  { number, day }: { readonly number: number; readonly day: string },
) {
  const ofForm = (form: BookingForm) => {
    const references = createHashIndex(dialect.reference_pages);
    const stays = createStayIndex(dialect.stay_pages, day);
    const all: readonly Index[] = [
      {
        get isFull() {
          return references.isFull;
        },
        store: () => insertReferencePages(number, form, references.pages()),
        clear: references.clear,
      },
      {
        get isFull() {
          return stays.isFull;
        },
        store: () => insertStayPages(number, form, stays.pages()),
        clear: stays.clear,
      },
    ];
    return { references, stays, all };
  };
  const forms = { body: ofForm('body'), file: ofForm('file') };
  const all = bookingForms.flatMap((form) => forms[form].all);

  return {
    all,
    listFull: () => all.filter(({ isFull }) => isFull),
    add(batches: readonly CollectedBatch[], batchSize: number): void {
      for (const { form, number: batch, referenceHashes, stays } of batches) {
        const first = batch * batchSize;
        // A loop over indexes: an iterator takes three times as long.
        for (let place = 0; place < referenceHashes.length; place += 1)
          forms[form].references.add(referenceHashes[place] ?? noReference, first + place);
        if (stays) forms[form].stays.addBatch(stays, first);
      }
    },
  };
}

function insertReferencePages(run: number, form: BookingForm, pages: Iterable<HashPage>): Query<void> {
  const columns = {
    ...({ run: 'bigint', form: 'text', first_hash: 'bigint', last_hash: 'bigint' } as const),
    ...({ page: 'integer', entries: 'bytes' } as const),
  };
  return insert('reference_pages', columns, toRows(run, form, pages));
}

function* toRows(run: number, form: BookingForm, pages: Iterable<HashPage>) {
  for (const { page, firstHash, lastHash, entries } of pages)
    yield [run, form, firstHash, lastHash, page, entries];
}
