import type { BookingForms } from '../delivery.js';
import { createItemRenderer } from './booking-item.js';

/** Every booking is kept as an item of a request body. */
export function createBodyForms(masterIdName: string): BookingForms {
  const renderItem = createItemRenderer(masterIdName);
  return {
    kind: 'body',
    formOf: () => 'body',
    render: (booking, _form, line) => renderItem(booking, line),
  };
}
