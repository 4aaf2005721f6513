/**
 * What MySQL's read-only transaction doesn't keep a query from: settings of the server, and files there. The other
 * databases run nothing with parameters that gives no rows.
 *
 * @param words of the query, in order: those outside of literals and comments
 * @throws RangeError for a query that begins with SET, or that writes to a file
 */
export function refuseMysqlEffects(words: readonly string[]): void {
  const upper = words.map((word) => word.toUpperCase());
  if (upper[0] === 'SET')
    throw new RangeError('the query begins with SET, which changes settings; expected one SELECT');
  const target = upper.find(
    (word, index) => ['OUTFILE', 'DUMPFILE'].includes(word) && upper[index - 1] === 'INTO',
  );
  if (target !== undefined) {
    throw new RangeError(
      `the query has INTO ${target}, which writes a file on the server; a source only reads`,
    );
  }
}
