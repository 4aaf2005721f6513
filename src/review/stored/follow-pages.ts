/** Finds the places in each batch, asked in the order of the batches: one page is held. */
export function followPages(
  readNext: (
    after: number,
  ) => Promise<{ readonly batch: number; readonly places: readonly number[] } | undefined>,
) {
  let page: Awaited<ReturnType<typeof readNext>> = { batch: -1, places: [] };
  return async (batch: number): Promise<readonly number[]> => {
    while (page && page.batch < batch) page = await readNext(page.batch);
    return page?.batch === batch ? page.places : [];
  };
}
