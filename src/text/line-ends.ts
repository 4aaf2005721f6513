const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;

/**
 * Whether most lines of a text end with CR only. A line `sep=` above them, or a cell in quotes, may have LF all the same.
 *
 * @param bytes the beginning of a text in UTF-8
 */
export function endsWithReturns(bytes: Buffer): boolean {
  if (!bytes.includes(carriageReturn)) return false;
  let returns = 0;
  let isQuoted = false;
  // A CR at the very end may be half of a CRLF.
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (byte === lineFeed) returns -= 1;
    else if (byte === carriageReturn && at + 1 < bytes.length) returns += bytes[at + 1] === lineFeed ? 0 : 1;
  }
  return returns > 0;
}
