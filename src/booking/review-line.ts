import { writeCell } from '../base/csv-cells.js';
import { masterIdField, serviceFields } from './booking.js';

/** The columns of the review file. (Spec 2.6.) */
export function listReviewColumns(masterIdColumn: string): readonly string[] {
  return serviceFields.map((field) => (field === masterIdField.name ? masterIdColumn : field));
}

/** The first line of the file, without its line end. */
export function renderReviewHeader(masterIdColumn: string): string {
  return listReviewColumns(masterIdColumn).map(writeCell).join(',');
}
