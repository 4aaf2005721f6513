import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, it } from 'vitest';
import { writeSandboxConfiguration } from '../../src/sandbox/configuration.js';
import { createWorld } from '../../src/sandbox/world/world.js';
import { changeWorld, type StartedSandbox, startedSandbox } from '../sandbox/started-sandbox.js';
import { runIn } from '../support/sandbox-command.js';

type Row = Readonly<Record<string, string>>;

const hours = 3_600_000;

/** A sandbox whose world changed between two syncs, and whose mappings were then exported. */
async function syncedAndExported(): Promise<StartedSandbox> {
  const sandbox = await startedSandbox({
    world: createWorld({ seed: 1, hotels: 300 }),
    now: Date.now() - 2 * hours,
  });
  await writeSandboxConfiguration(sandbox);
  await run(sandbox, 'mappings', 'sync');
  changeWorld(sandbox, 1_000);
  await run(sandbox, 'mappings', 'sync');
  await run(sandbox, 'export', 'request', '--email', 'ann@agency.example');
  await run(sandbox, 'export', 'fetch', '--wait', '1');
  return sandbox;
}

async function run({ folder }: StartedSandbox, ...args: readonly string[]) {
  const { exitCode, json, stderr } = await runIn(folder, ...args, '--config', 'sandbox.yaml', '--json');
  expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
  return json;
}

describe('A copy of a changed world', () => {
  it('equals the export, and differs by exactly the twenty planted changes', async () => {
    const sandbox = await syncedAndExported();
    const changes = sandbox.events.filter((event) => 'mappings' in event && event.mappings > 0);
    expect(changes.length).toBeGreaterThan(2);
    expect(await run(sandbox, 'export', 'compare')).toMatchObject({ differs: false, added: 0, gone: 0 });

    const names = await readdir(sandbox.sftp.root);
    const name = names.find((one) => one.includes('_mappings_')) ?? '';
    const rows = parse(await readFile(join(sandbox.sftp.root, name), 'utf8'), { columns: true }) as Row[];
    const planted = rows.flatMap((row, place): Row[] => {
      if (place === 100 || place === 200) return [];
      if (place >= 300 && place < 310) return [{ ...row, ServiceId: '7' }];
      if (place >= 400 && place < 402) return [{ ...row, ChannelIds: 'Planted,Refundable' }];
      if (place >= 500 && place < 502) return [{ ...row, ProviderLocationId: 'XXX-1' }];
      if (place >= 600 && place < 604) return [row, { ...row, ProviderHotelId: `planted-${place}` }];
      return [row];
    });
    await writeFile(join(sandbox.folder, 'planted.csv'), stringify(planted, { header: true }));
    const comparison = await run(sandbox, 'export', 'compare', 'planted.csv');
    expect(comparison).toMatchObject({ differs: true, added: 4, changed: 14, gone: 2 });
  });
});
