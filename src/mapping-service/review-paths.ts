import { addQuery } from './query.js';

/** Spec 4.2, below the base address. */
export const reviewPath = '/hotels/ReviewMappingsOfBookedHotels';

/** Spec 4.3, below the base address. */
export function reviewByFilePath(ftpFilePath: string): string {
  return addQuery('/hotels/ReviewMappingsOfBookedHotelsByFile', { ftpFilePath });
}
