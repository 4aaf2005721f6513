import * as z from 'zod';
import { dayField } from '../routing/fields.js';

const count = z.int().nonnegative();

/** A day of the calendar. */
export const shownDay = z.object({
  day: dayField,
  judgement: z
    .enum(['good', 'sent', 'attention', 'unfinished', 'missing', 'not-due'])
    .describe('As in `report --json`; `missing` is over and has no run, of `not-due` none is expected (yet)'),
  headline: z.string().describe('The judgement in a sentence'),
  isDue: z.boolean().describe('Its run has begun, or should have'),
  isGood: z.boolean().describe('A complete run reviewed it, as in `status --json`'),
  isLate: z.boolean().describe('It was not good by its deadline'),
  isDrop: z.boolean().describe('Its run found far fewer bookings than usual'),
  how: z
    .enum(['schedule', 'catch-up', 'hook', 'manual', 'replay', 'today'])
    .nullable()
    .describe('What started the run that counts; `catch-up` is a slot after its own'),
  runs: count,
  runId: z.string().nullable().describe('The run that counts'),
  state: z
    .enum(['collecting', 'delivering', 'awaiting-result', 'succeeded', 'failed', 'cancelled'])
    .nullable(),
  durationMs: count.nullable(),
  usual: z.number().nullable().describe('Bookings that are usual; null if too few days are known'),
  counts: z
    .object({
      accepted: count,
      rejected: count,
      delivered: count,
      refused: count,
      pending: count,
      affected: count.nullable(),
      unanswered: count.nullable(),
    })
    .nullable()
    .describe('Of all runs that together sent the day; null stands for unknown'),
});
export type ShownDay = z.output<typeof shownDay>;

export const selections = ['missing', 'failed', 'late', 'all', 'none'] as const;

const instant = z.iso.datetime();

export const daysData = z.object({
  firstDay: dayField.nullable().describe('The first day with a run'),
  lastGoodDay: dayField.nullable().describe('The last day before the first one shown that is not good'),
  after: z
    .object({
      day: dayField,
      judgement: shownDay.shape.judgement,
      headline: z.string(),
      notGood: count.describe('Due days since the last good day that are not good'),
      due: count,
      newestGoodDay: dayField.nullable(),
    })
    .nullable()
    .describe('The day that follows the last good day, and those after it; null if all due days are good'),
  nextRunAt: instant.nullable(),
  deadline: z
    .object({ day: dayField, at: instant })
    .nullable()
    .describe('The next one of a day that is not good yet'),
  lateDays: z.array(dayField).describe('Not good by their deadline, nor since'),
  latestVolume: z.object({ day: dayField, accepted: count, usual: z.number().nullable() }).nullable(),
  cases: z
    .object({
      openBookings: count,
      unknownCheckIns: count.describe('Of the open bookings: they might check in tomorrow'),
      firstCheckIn: dayField.nullable().describe('The nearest known one of an open booking'),
    })
    .describe('What the booking team has to do'),
  mappingsCompleteUntil: instant.nullable().describe('Of the local copy of the mappings'),
  parts: z.record(z.string(), z.string()).describe('`ok`, or the problem'),
  problems: z.array(
    z.object({
      event: z.string(),
      severity: z.enum(['info', 'warning', 'critical']),
      title: z.string(),
      day: z.string().nullable(),
      since: instant,
    }),
  ),
  selection: z
    .object({
      select: z.enum(selections),
      from: dayField,
      to: dayField,
      days: z.array(dayField).describe('To be replayed'),
    })
    .nullable(),
  days: z.array(shownDay).describe('Twelve months up to today, oldest first'),
});
export type DaysData = z.output<typeof daysData>;
