import * as z from 'zod';
import type { RunReport } from '../../review/day/report.js';

const count = z.int().nonnegative();
const usual = z.number().nullable();
const drop = z.object({
  accepted: count,
  usual,
  minimum: z.number().exactOptional(),
  drops: z.array(z.object({ provider: z.string().nullable(), accepted: count, usual })),
});

/** The report of a run, as `run --json` prints it. Its type doesn't compile if the report and the schema differ. */
export const runReport: z.ZodType<RunReport> = z.object({
  runId: z.string(),
  day: z.string(),
  delivery: z.enum(['body', 'file']),
  trigger: z.enum(['schedule', 'hook', 'manual', 'replay', 'today']),
  reason: z.string().exactOptional(),
  state: z.enum(['collecting', 'delivering', 'awaiting-result', 'succeeded', 'failed', 'cancelled']),
  counts: z.object({
    read: count,
    accepted: count,
    duplicates: count,
    rejected: count,
    filtered: count,
    delivered: count,
    refused: count,
    pending: count,
    repeated: count,
    posted: count,
    affected: count.nullable(),
    unanswered: count.nullable(),
  }),
  file: z
    .object({
      remotePath: z.string().nullable(),
      sha256: z.string(),
      rows: count,
      resultName: z.string().nullable(),
      archivedTo: z.string().nullable(),
    })
    .nullable(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
  durationMs: count,
  cancelReason: z.string().exactOptional(),
  topsUp: z.literal(true).exactOptional(),
  suspects: z.object({ bookings: count }).exactOptional(),
  volume: drop.exactOptional(),
  error: z.object({ class: z.string(), message: z.string() }).exactOptional(),
  waiting: z.object({ step: z.string(), until: z.iso.datetime(), code: z.string() }).exactOptional(),
});
