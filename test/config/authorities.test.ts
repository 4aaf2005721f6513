import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { ConfigurationError } from '../../src/config/problems.js';
import { writeSettings } from './writing.js';

async function findProblems(settings: Parameters<typeof writeSettings>[0]) {
  const file = join(mkdtempSync(join(tmpdir(), 'authorities-')), 'hotel-review.yaml');
  writeFileSync(file, writeSettings(settings));
  const error: unknown = await loadConfig({ file, env: {} }).catch((reason: unknown) => reason);
  return error instanceof ConfigurationError ? error.problems : [];
}

it('every address that names the file of an authority is checked when the configuration is read', async () => {
  const problems = await findProblems({
    ledger: 'postgres://db.example.com/review?sslrootcert=nowhere.pem',
    source: {
      kind: 'sql',
      url: 'postgres://db.example.com/hotel?sslrootcert=elsewhere.pem',
      query: 'SELECT :day',
    },
  });
  expect(problems.map(({ path }) => path)).toEqual(['ledger', 'source.url']);
  for (const { message } of problems)
    expect(message).toBe('the file of its authority cannot be read (ENOENT)');
});

it('the file of an authority must hold a certificate, and is not quoted', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'authorities-')), 'ca.pem');
  writeFileSync(file, 's3cret');
  expect(await findProblems({ ledger: `postgres://db.example.com/review?sslrootcert=${file}` })).toEqual([
    {
      path: 'ledger',
      message: expect.stringMatching(
        /^expected a file of its authority with a certificate in PEM(?!.*s3cret)/,
      ),
    },
  ]);
});
