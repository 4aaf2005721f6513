/**
 * Shares work between all who ask while it is done, and for a while afterwards, so that frequent callers cause no more of it than a
 * few.
 */
export function shareWork<Result>(
  work: () => Promise<Result>,
  clock: () => number,
  reuseMs: number,
): () => Promise<Result> {
  let last: { readonly result: Promise<Result>; endedAt?: number } | undefined;
  return () => {
    const { result, endedAt } = last ?? {};
    if (result && (endedAt === undefined || Math.abs(clock() - endedAt) < reuseMs)) return result;
    const started: NonNullable<typeof last> = { result: work() };
    last = started;
    return started.result.finally(() => {
      started.endedAt = clock();
    });
  };
}
