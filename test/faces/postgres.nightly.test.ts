import { expect, it } from 'vitest';
import { postgresNeeds, startPostgres } from '../support/postgres.js';
import { readRecorded, recordAgain } from './recording.js';

/** They say how it is copied, where the data is, and what happens to removed bytes. */
const nameTheLedger = new Set(['backup', 'doctor', 'guest', 'privacy'].map((name) => `commands/${name}.txt`));

it.skipIf(postgresNeeds)('With the ledger on PostgreSQL, every other face is the same', async () => {
  const postgres = await startPostgres();
  try {
    const [recorded, now] = [await readRecorded(), await recordAgain(await postgres.createDatabase())];
    for (const [name, face] of recorded) if (!nameTheLedger.has(name)) expect(now.get(name), name).toBe(face);
  } finally {
    await postgres.remove();
  }
});
