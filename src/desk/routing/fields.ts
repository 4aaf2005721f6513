import * as z from 'zod';
import { isCalendarDay } from '../../booking/business-day.js';

/** A business day in an address. */
export const dayField = z
  .string()
  .refine(isCalendarDay, 'a day is a calendar date written YYYY-MM-DD')
  .meta({ format: 'date' });

/** A field that may be given once or several times. */
export const listField = z.union([z.string(), z.array(z.string())]).transform((given) => [given].flat());
