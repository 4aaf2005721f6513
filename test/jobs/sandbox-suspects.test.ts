import { expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { listAffected, prepareSandboxDay } from './sandbox-day.js';

it('After a sync the suspects of a day are exactly the bookings that its result marks', async () => {
  const made = await prepareSandboxDay({ count: 1_000, settings: { delivery: 'file' } });
  const { folder, counts } = made;
  expect((await folder.run(['mappings', 'sync'])).exitCode).toBe(0);
  const { exitCode, report } = await folder.runDay();
  expect(exitCode).toBe(0);
  expect(counts.wrongMappings).toBeGreaterThan(50);
  expect(report).toMatchObject({
    counts: { delivered: counts.bookings },
    suspects: { bookings: counts.wrongMappings },
  });

  const { json } = await folder.run(['suspects', day, '--json']);
  const { suspects } = json as {
    suspects: readonly { BookingReferenceId: string; reason: string }[];
  };
  expect(suspects.filter(({ reason }) => reason !== 'other-master')).toEqual([]);
  const doubted = suspects.map(({ BookingReferenceId }) => BookingReferenceId);
  const affected = await listAffected(made);
  // Bookings that can't go into the file are posted, and no result names them.
  expect(affected).toHaveLength(counts.wrongMappings - counts.wrongUnfitForFile);
  expect(doubted).toEqual(expect.arrayContaining([...affected]));
});
