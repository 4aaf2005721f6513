import { renderItems } from '../../booking/item-line.js';
import type { BatchStream } from '../../booking/sending.js';
import { putReferences } from '../../booking/stored-line.js';
import type { Run } from '../../rules/run.js';

/** The bytes of a stored line in the request body, or in the file without the line end. */
export function renderAsSent({ guestNames, masterIdName }: Run, stream: BatchStream, line: string): Buffer {
  const stored = Buffer.from(`${line}\n`);
  if (stream === 'posted') return renderItems(stored, 1, masterIdName);
  return (guestNames === 'omit' ? putReferences(stored) : stored).subarray(0, -1);
}
