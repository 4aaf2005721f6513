import { type Booking, listTexts, type ServiceField, textFields } from './booking.js';
import { readsAsNull } from './field-text.js';

/** Why a booking can't stand in the review file, and so is posted by body or rejected. (Spec 4.3, design 4.) */
export interface FileObstacle {
  readonly field: ServiceField;
  readonly reason: 'missing' | 'reads-as-null';
}

/**
 * The first field, in the service's order, that bars a booking from the review file: no cell there may be blank or
 * read as null. Undefined when the booking can stand in it.
 */
export function findFileObstacle(booking: Booking): FileObstacle | undefined {
  const texts = listTexts(booking);
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at];
    if (text !== undefined && !readsAsNull(text)) continue;
    const field = textFields[at]?.name;
    if (field) return { field, reason: text === undefined ? 'missing' : 'reads-as-null' };
  }
  return undefined;
}
