import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { expect, it } from 'vitest';
import { parse as parseYaml, stringify as stringifyYaml } from 'yaml';
import { createFolder, runIn, startSandboxCommand } from '../support/sandbox-command.js';

type Row = Record<string, string>;

/** A sandbox with immediate exports, and an up-to-date copy of its mappings. */
async function prepare(...options: readonly string[]) {
  const folder = await createFolder();
  const sandbox = await startSandboxCommand(folder, '--result-delay', '0', ...options);
  const settings = parseYaml(await readFile(join(folder, 'sandbox.yaml'), 'utf8')) as { file: object };
  const file = { ...settings.file, resultPollSeconds: 0.2, resultQuietSeconds: 2 };
  const fast = { ...settings, file };
  await writeFile(join(folder, 'fast.yaml'), stringifyYaml(fast));
  const run = (...args: readonly string[]) => runIn(folder, ...args, '--config', 'fast.yaml', '--json');
  expect((await run('mappings', 'sync')).exitCode).toBe(0);
  return { folder, sandbox, run };
}

async function fetchMappings(run: Awaited<ReturnType<typeof prepare>>['run'], ...request: readonly string[]) {
  expect((await run('export', 'request', '--email', 'ops@example.com', ...request)).exitCode).toBe(0);
  const { exitCode, json } = await run('export', 'fetch');
  expect(exitCode).toBe(0);
  const { archivedTo, files } = json as {
    archivedTo: string;
    files: { kind: string; name: string; rows: number }[];
  };
  const [file = { name: '', rows: 0 }] = files.filter(({ kind }) => kind === 'mappings');
  const text = await readFile(join(archivedTo, file.name), 'utf8');
  const rows = parse(text, { columns: true }) as Row[];
  expect(rows).toHaveLength(file.rows);
  return rows;
}

it("the sandbox's export equals a synced copy, and each of 20 planted differences is found", async () => {
  const { folder, sandbox, run } = await prepare();
  const rows = await fetchMappings(run);
  expect(rows.length).toBeGreaterThan(1_000);
  expect(await run('export', 'compare')).toMatchObject({
    exitCode: 0,
    json: {
      differs: false,
      rows: rows.length,
      same: rows.length,
      added: 0,
      changed: 0,
      gone: 0,
      unreadable: 0,
    },
  });
  const [email = ''] = await readdir(sandbox.addresses.outbox);
  expect(email).toMatch(/\.eml$/);

  const planted = rows.flatMap((row, index): Row[] => {
    if (index >= 500 || index % 25 !== 0) return [row];
    switch ((index / 25) % 4) {
      case 0:
        return [];
      case 1:
        return [{ ...row, ServiceId: '999999999' }];
      case 2:
        return [{ ...row, ChannelIds: `${row.ChannelIds};Planted,Channel` }];
      default:
        return [{ ...row, ProviderHotelId: `planted-${index}` }];
    }
  });
  await writeFile(join(folder, 'planted.csv'), stringify(planted, { header: true }));
  const compared = await run('export', 'compare', 'planted.csv', '--out', join(folder, 'all.ndjson'));
  expect(compared.json).toMatchObject({
    differs: true,
    same: rows.length - 20,
    added: 5,
    changed: 10,
    changedIn: { ServiceId: 5, ChannelIds: 5, ProviderLocationId: 0 },
    // A hotel under another id counts as one added and one gone.
    gone: 10,
  });
  const lines = (await readFile(join(folder, 'all.ndjson'), 'utf8')).trimEnd().split('\n');
  expect(lines).toHaveLength(25);
});

it('an export of one provider is compared with that provider in the copy', async () => {
  const { run } = await prepare();
  const { providers } = (await run('mappings', 'stats')).json as {
    providers: { providerName: string; mappings: number }[];
  };
  const [{ providerName, mappings } = { providerName: '', mappings: 0 }] = providers;
  const rows = await fetchMappings(run, '--providers', providerName);
  expect(new Set(rows.map(({ ProviderFamily }) => ProviderFamily))).toEqual(new Set([providerName]));
  expect((await run('export', 'compare')).json).toMatchObject({ differs: false, same: mappings, others: 0 });
});

it('an export that is still growing is fetched once it is complete', async () => {
  const { run } = await prepare('--fault', 'result-growing:4@1');
  const rows = await fetchMappings(run);
  expect((await run('export', 'compare')).json).toMatchObject({ differs: false, same: rows.length });
});
