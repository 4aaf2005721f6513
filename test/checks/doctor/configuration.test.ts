import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfiguration } from '../../../src/checks/doctor/configuration.js';
import { loadConfig } from '../../../src/config/load.js';
import { hostKey, sftp, writeSettings } from '../../config/writing.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

function read(settings: object, text = writeSettings(settings as Record<string, unknown>)) {
  const file = join(makeTemporaryFolder(), 'hotel-review.yaml');
  writeFileSync(file, text);
  return readConfiguration(file, (adjust) => loadConfig({ file, env: {}, adjust }));
}

it('reports each mistake as a separate finding, and that other checks were skipped', async () => {
  const { config, findings } = await read({ timezone: 'Nowhere', bdy: 1, hashKey: `\${KEY}` });
  expect(config).toBeUndefined();
  expect(findings.map(({ verdict }) => verdict)).toEqual(['wrong', 'wrong', 'wrong', 'warning']);
  const messages = findings.map(({ message }) => message).join('\n');
  expect(messages).toContain('hashKey: expected a value in the environment variable KEY');
  expect(messages).toContain('timezone: expected a time zone');
  expect(messages).toContain('bdy: unknown setting; did you mean body?');
});

it('reports a missing file, and any other failure without quoting it', async () => {
  const file = join(makeTemporaryFolder(), 'none.yaml');
  const { findings } = await readConfiguration(file, () => loadConfig({ file, env: {} }));
  expect(findings[0]?.message).toContain('there is no such file');
  const failed = await readConfiguration(file, () => Promise.reject(new TypeError('quotes s3cret')));
  expect(failed.findings[0]).toMatchObject({ verdict: 'wrong', message: 'unexpected TypeError' });
});

const { hostKey: _, ...unpinned } = sftp;
const ofSource = { kind: 'csv', path: 'sftp://drop.example.com/{day}.csv' };

it.each<[string, object]>([
  ['of the review file', { file: { sftp: unpinned } }],
  ['of the source', { source: { ...ofSource, sftp: { username: 'u', password: 'p' } }, file: { sftp } }],
  ['that are not readable', { file: { sftp: { ...sftp, hostKey: [hostKey, 'x'] } } }],
])(
  'lets the other parts be checked if only host keys are missing, and trusts no server: %s',
  async (_, settings) => {
    const { config, findings } = await read(settings);
    expect(findings.map(({ verdict }) => verdict)).toEqual(['wrong']);
    const { source, file } = config ?? {};
    const pinned = [file?.sftp, source && 'sftp' in source ? source.sftp : undefined].flatMap(
      (one) => one?.hostKey ?? [],
    );
    const given = 'source' in settings ? [hostKey] : [];
    expect(pinned.filter((key) => key !== `SHA256:${'0'.repeat(43)}`)).toEqual(given);
    expect(pinned.length).toBeGreaterThan(given.length);
    expect((await read({ ...settings, timezone: 'Nowhere' })).config).toBeUndefined();
  },
);
