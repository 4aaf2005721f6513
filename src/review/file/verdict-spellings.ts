import { readCellText, readVerdict } from './result-cells.js';

/** More than any service has words for. */
const mostRemembered = 8;

/** Reads verdicts from bytes as readVerdict does from texts; a spelling that was seen before costs next to nothing. */
export function createVerdictSpellings() {
  const remembered: { readonly bytes: Buffer; readonly isCorrect: boolean | undefined }[] = [];

  return {
    /** The verdict in `bytes` from `from` to before `to`, which is not in quotes; white space around it is left out of account. */
    read(bytes: Buffer, from: number, to: number): boolean | undefined {
      for (const spelling of remembered)
        if (stands(spelling.bytes, bytes, from, to)) return spelling.isCorrect;
      const isCorrect = readVerdict(readCellText(bytes.toString('utf8', from, to)));
      if (remembered.length < mostRemembered)
        remembered.push({ bytes: Buffer.from(bytes.subarray(from, to)), isCorrect });
      return isCorrect;
    },
  };
}

function stands(spelling: Buffer, bytes: Buffer, from: number, to: number): boolean {
  if (spelling.length !== to - from) return false;
  for (let index = 0; index < spelling.length; index += 1)
    if (bytes[from + index] !== spelling[index]) return false;
  return true;
}
