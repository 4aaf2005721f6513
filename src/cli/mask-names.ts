import type { BookingForm } from '../review/step.js';
import { readFields } from '../review/stored-line.js';

/** A kept line as people may see it: its fields, all but the guest's name. */
export function readMaskedFields(line: string, form: BookingForm): Record<string, unknown> {
  const fields = readFields(line, form);
  return 'BookingClientName' in fields ? { ...fields, BookingClientName: '***' } : fields;
}
