import * as z from 'zod';
import { isCalendarDay } from '../booking/business-day.js';

/** A business day in an address. */
export const dayField = z.string().refine(isCalendarDay, 'a day is a calendar date written YYYY-MM-DD');

/** The same in a form where it may be left empty. */
export const optionalDayField = z
  .string()
  .refine((given) => given === '' || isCalendarDay(given), 'a day is a calendar date written YYYY-MM-DD')
  .transform((given) => given || undefined)
  .optional();

/** One of a list, in a form where none may be chosen. */
export function choiceField<const Choices extends readonly [string, ...string[]]>(choices: Choices) {
  return z
    .enum([...choices, ''], { error: 'expected one of the list' })
    .transform((given) => (given === '' ? undefined : (given as Choices[number])))
    .optional();
}

/** A field that may be given once or several times. */
export const listField = z.union([z.string(), z.array(z.string())]).transform((given) => [given].flat());

/** A whole number from 1. */
export function numberField(digits: number, message: string) {
  return z
    .string()
    .regex(new RegExp(`^[1-9]\\d{0,${digits - 1}}$`), message)
    .transform(Number);
}

/** The number of a page of a long list, from 1. */
export const pageField = numberField(6, 'expected the number of a page, from 1').default(1);

/** A search text. Surrounding spaces are ignored, and an empty field counts as absent. */
export const searchField = z
  .string()
  .max(500)
  .transform((given) => given.trim() || undefined)
  .optional();
