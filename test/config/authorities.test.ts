import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { ConfigurationError } from '../../src/config/problems.js';
import { projectFile } from '../support/compose-file.js';
import { writeSettings } from './writing.js';

/** A part of a JSON Schema. */
interface Part {
  readonly properties?: Readonly<Record<string, Part>>;
  readonly items?: Part;
  readonly anyOf?: readonly Part[];
  readonly oneOf?: readonly Part[];
}

/** The paths of all settings, such as `notify[0].kind`. */
function listSettings({ properties = {}, items, anyOf = [], oneOf = [] }: Part, path = ''): string[] {
  return [
    ...(path === '' ? [] : [path]),
    ...Object.entries(properties).flatMap(([name, part]) =>
      listSettings(part, path === '' ? name : `${path}.${name}`),
    ),
    ...(items ? listSettings(items, `${path}[0]`) : []),
    ...[...anyOf, ...oneOf].flatMap((part) => listSettings(part, path)),
  ];
}

async function findProblems(settings: Parameters<typeof writeSettings>[0]) {
  const file = join(mkdtempSync(join(tmpdir(), 'authorities-')), 'hotel-review.yaml');
  writeFileSync(file, writeSettings(settings));
  const error: unknown = await loadConfig({ file, env: {} }).catch((reason: unknown) => reason);
  return error instanceof ConfigurationError ? error.problems : [];
}

it("every setting that names an authority's certificate is checked when the configuration is read", async () => {
  const ca = 'nowhere.pem';
  const problems = await findProblems({
    service: { baseUrl: 'https://mapping.example.com/api/3.0', apiKey: 'k-1', accountId: 'acme' },
    s3: { ca },
    ledger: { url: 'postgres://db.example.com/review', ca },
    queue: { url: 'rediss://cache.example.com', ca },
    source: { kind: 'http', url: 'https://bookings.example.com/?day={day}', ca },
    notify: [{ kind: 'slack', url: 'https://hooks.example.com/1', ca }],
    verdicts: { imap: { host: 'mail.example.com', user: 'u', password: 'p', ca } },
  });
  const settings = listSettings(JSON.parse(projectFile('hotel-review.schema.json')) as Part);
  const authorities = new Set(settings.filter((path) => /(?:^|\.)ca$/.test(path)));
  expect(authorities.size).toBeGreaterThan(5);
  expect(problems.map(({ path }) => path).sort()).toEqual([...authorities].sort());
  for (const { message } of problems) expect(message).toMatch(/nowhere\.pem cannot be read \(ENOENT\)$/);
});
