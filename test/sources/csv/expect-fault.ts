import { inspect } from 'node:util';
import { expect } from 'vitest';
import { SourceError, type SourceFault } from '../../../src/booking/source.js';

/** Expects a read to fail with this fault and a message that quotes no cell: every guest in the tests is called Canary. */
export async function expectFault(
  reading: Promise<unknown>,
  fault: SourceFault,
  message: RegExp,
): Promise<SourceError> {
  const error = await reading.then(
    () => expect.fail('it was read'),
    (error: unknown) => error,
  );
  if (!(error instanceof SourceError)) throw error;
  expect(error.fault).toBe(fault);
  expect(error.message).toMatch(message);
  expect(inspect(error, { depth: 10 })).not.toContain('Canary');
  return error;
}
