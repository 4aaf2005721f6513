const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const nothing: Buffer = Buffer.alloc(0);

/** A line without its line end; without its bytes too when it is longer than the limit. */
export interface CutLine {
  /** Counted from 1. */
  readonly line: number;
  readonly bytes: Buffer | undefined;
}

/** Cuts bytes into lines. They end with LF or CRLF; a lone CR is an ordinary character. */
export interface LineCutter {
  cut(block: Buffer): readonly CutLine[];
  /** What stands behind the last line end when the input has ended, if anything does. */
  end(): CutLine | undefined;
  /** The line on which the next block begins, counted from 1. */
  readonly line: number;
}

/** @param lineLimit in bytes, without the line end. Of a longer line no more than that is ever held. */
export function createLineCutter(lineLimit: number): LineCutter {
  let pending = nothing;
  let isDropped = false;
  let line = 1;

  function withinLimit(bytes: Buffer): Buffer | undefined {
    return isDropped || bytes.length > lineLimit ? undefined : bytes;
  }

  return {
    cut(block) {
      const bytes = pending.length === 0 ? block : Buffer.concat([pending, block]);
      const lines: CutLine[] = [];
      let start = 0;
      for (
        let end = bytes.indexOf(lineFeed, pending.length);
        end !== -1;
        end = bytes.indexOf(lineFeed, start)
      ) {
        const hasReturn = end > start && bytes[end - 1] === carriageReturn;
        lines.push({ line, bytes: withinLimit(bytes.subarray(start, hasReturn ? end - 1 : end)) });
        line += 1;
        start = end + 1;
        isDropped = false;
      }
      pending = bytes.subarray(start);
      // One byte more than the limit may still turn out to be the CR of the line end.
      if (isDropped || pending.length > lineLimit + 1) {
        isDropped = true;
        pending = nothing;
      }
      return lines;
    },
    end() {
      return isDropped || pending.length > 0 ? { line, bytes: withinLimit(pending) } : undefined;
    },
    get line() {
      return line;
    },
  };
}
