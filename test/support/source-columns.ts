import { gunzipSync } from 'node:zlib';
import { serviceFields } from '../../src/booking/booking.js';
import type { SourceColumns } from '../../src/booking/source.js';

/**
 * The columns of a source that says which fields it lacks: those whose name does not occur in the text. For tests about
 * something else, which write few columns.
 */
export function columnsIn(content: string | Buffer, columns: SourceColumns = {}): SourceColumns {
  const text = toText(content);
  const lacking = serviceFields.filter(
    (field) => field !== 'ServiceId' && !Object.hasOwn(columns, field) && !text.includes(field.toLowerCase()),
  );
  return { ...columns, ...Object.fromEntries(lacking.map((field) => [field, false])) };
}

/** In lower case; good enough to find ASCII names, whatever the encoding. */
function toText(content: string | Buffer): string {
  if (typeof content === 'string') return content.toLowerCase();
  const isGzip = content[0] === 0x1f && content[1] === 0x8b;
  try {
    return (isGzip ? gunzipSync(content) : content).toString('latin1').replaceAll('\0', '').toLowerCase();
  } catch {
    return '';
  }
}

/** Only the master id's column. */
export const masterIdOnly: SourceColumns = columnsIn('');
