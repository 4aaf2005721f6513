import type { Run } from '../run.js';
import type { FileParts } from './file-parts.js';
import { readResult } from './result.js';
import { type JoinedResult, joinResult } from './result-join.js';
import { readSentBatches, resultName } from './spooled-file.js';

/** Reads the result that lies in the spool and joins it with the bookings that were sent. */
export function joinSpooledResult(parts: FileParts, run: Run): Promise<JoinedResult> {
  const { spool, masterIdColumn } = parts;
  return joinResult(readResult(spool.read(resultName(run)), { masterIdColumn }), () =>
    readSentBatches(parts, run),
  );
}
