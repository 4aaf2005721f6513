import { expect } from 'vitest';
import type { CommandResult, CountName } from './command.js';
import type { StandIn } from './http-stand-in.js';
import type { MadeBooking } from './made-bookings.js';

interface ExpectedReport {
  readonly exitCode: number;
  readonly state: string;
  readonly counts: Partial<Record<CountName, number>>;
}

/** Holds a closing report against what is expected of it, and its sums against each other. (Design 3.) */
export function expectReport({ exitCode, report }: CommandResult, expected: ExpectedReport): void {
  expect({ exitCode, state: report.state, counts: report.counts }).toMatchObject(expected);
  const { read, accepted, duplicates, rejected, delivered, refused, pending } = report.counts;
  expect(accepted + duplicates + rejected).toBe(read);
  expect(delivered + refused + pending).toBe(accepted);
}

/** These bookings, and no others, were answered with success: each once, as the source wrote it. */
export function expectEachOnce(standIn: StandIn, bookings: readonly MadeBooking[]): void {
  const byReference = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
  expect([...standIn.accepted()].sort(byReference)).toEqual([...bookings].sort(byReference));
}

/** How often each body came, among the requests that were read whole. */
export function countBodies(standIn: StandIn): Map<string, number> {
  const times = new Map<string, number>();
  for (const { body } of standIn.requests) {
    if (body.length > 0) times.set(body.toString(), (times.get(body.toString()) ?? 0) + 1);
  }
  return times;
}
