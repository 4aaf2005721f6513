import { findFileObstacle } from '../../booking/file-fitness.js';
import type { BookingForms } from '../delivery.js';
import { renderReviewLine } from './review-line.js';

/** A booking is kept as a line of the review file; one that can't stand there by body, or not at all. (Design 4.) */
export function createFileForms({
  body,
  incomplete,
}: {
  readonly body: BookingForms;
  readonly incomplete: 'post' | 'reject';
}): BookingForms {
  return {
    kind: 'file',
    formOf(booking) {
      if (findFileObstacle(booking) === undefined) return 'file';
      return incomplete === 'post' ? 'body' : undefined;
    },
    render: (booking, form, line) =>
      form === 'file' ? renderReviewLine(booking, line) : body.render(booking, form, line),
  };
}
