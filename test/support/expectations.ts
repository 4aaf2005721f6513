import { expect } from 'vitest';
import type { CommandResult, CountName } from './command.js';
import type { ReceivedHotel, StandIn } from './http-stand-in.js';

const reportKeys = [
  'runId',
  'day',
  'delivery',
  'trigger',
  'state',
  'counts',
  'file',
  'startedAt',
  'finishedAt',
  'durationMs',
  'isGood',
  'notGood',
  'volume',
];

/** Only where there is a reason or a wait. */
const optionalKeys = ['canary', 'filters', 'reason', 'waiting'];

const countKeys: readonly CountName[] = [
  'read',
  'accepted',
  'duplicates',
  'rejected',
  'filtered',
  'delivered',
  'refused',
  'pending',
  'carried',
  'repeated',
  'posted',
  'affected',
  'unanswered',
];

/**
 * The command ended with this code, and its report is one JSON object with the keys it must have (plus the reason, if
 * it failed) and sums that add up.
 */
export function expectReport(
  result: CommandResult,
  expected: {
    readonly exitCode: number;
    readonly state: string;
    readonly counts?: Partial<Record<CountName, number | null>>;
  },
): void {
  const { report } = result;
  expect(report).toMatchObject({ state: expected.state, counts: expected.counts ?? {} });
  expect(result.exitCode).toBe(expected.exitCode);
  expect(result.stdout.trimEnd().split('\n')).toHaveLength(1);
  const keys = Object.keys(report).filter((key) => !optionalKeys.includes(key));
  expect(keys).toEqual(expected.state === 'failed' ? [...reportKeys, 'error'] : reportKeys);
  expect(Object.keys(report.counts)).toEqual(countKeys);
  const { read, accepted, duplicates, rejected, filtered, delivered, refused, pending } = report.counts;
  expect(accepted + duplicates + rejected + filtered).toBe(read);
  expect(delivered + refused + pending).toBe(accepted);
}

/** The command ended with 2 or 4 and said why: `{"error":{"class","message"}}` and nothing else. */
export function expectError(
  result: CommandResult,
  expected: { readonly exitCode: number; readonly class: string; readonly message: RegExp },
): void {
  const { exitCode, class: errorClass, message } = expected;
  expect(result.json).toEqual({ error: { class: errorClass, message: expect.stringMatching(message) } });
  expect(result.stdout.trimEnd().split('\n')).toHaveLength(1);
  expect(result.stderr).toMatch(message);
  expect(result.exitCode).toBe(exitCode);
}

/** Every booking was accepted unchanged exactly once, and nothing else was. */
export function expectEachOnce(standIn: StandIn, bookings: readonly object[]): void {
  expect(inOrder(standIn.accepted())).toEqual(inOrder(bookings as readonly ReceivedHotel[]));
}

function inOrder(hotels: readonly ReceivedHotel[]): ReceivedHotel[] {
  return hotels.toSorted((one, other) => Number(one.ServiceId) - Number(other.ServiceId));
}
