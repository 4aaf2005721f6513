import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { createWorld } from '../../src/sandbox/world/world.js';
import {
  type Addresses,
  callSandbox,
  createFolder,
  makeDayIn,
  runIn,
  type SandboxCommand,
  sumTold,
} from '../support/sandbox-command.js';

interface Page {
  readonly ResumeKey: string | null;
  readonly Mappings: readonly Readonly<Record<string, unknown>>[];
  readonly Status: boolean;
  readonly StatusCode: number;
}

function ask({ service }: Addresses, path: string, syncId = 'sync-1'): Promise<Response> {
  const headers = { apikey: service.apiKey, accountId: service.accountId, syncId };
  return fetch(`${service.baseUrl}${path}`, { headers });
}

async function askPage(addresses: Addresses, query: Readonly<Record<string, string>>) {
  const answer = await ask(addresses, `/mappings?${new URLSearchParams(query)}`);
  return { page: (await answer.json()) as Page, date: answer.headers.get('date') ?? '' };
}

/** Applies all changes since an instant to the copies. Returns the time of the first page by the service's clock. */
async function sync(
  addresses: Addresses,
  copies: readonly Map<string, string>[],
  since: string,
): Promise<string> {
  const bound = { lastUpdateDateTime: since, limit: '1000' };
  let { page, date } = await askPage(addresses, bound);
  const startedAt = new Date(date).toISOString();
  for (;;) {
    for (const { Type, ...row } of page.Mappings) {
      const key = `${row.ProviderName} ${row.ProviderHotelId}`;
      for (const copy of copies) {
        // For a hotel that moved, the deletion is about the mapping it moved away from.
        if (Type !== 'Delete') copy.set(key, JSON.stringify(row));
        else if (copy.get(key)?.includes(`:${row.ServiceId},`)) copy.delete(key);
      }
    }
    if (page.ResumeKey === null) return startedAt;
    ({ page } = await askPage(addresses, { ...bound, resumeKey: page.ResumeKey }));
  }
}

const everything = '1970-01-01T00:00:00Z';

async function stop(sandbox: SandboxCommand) {
  sandbox.kill('SIGINT');
  expect(await sandbox.ended).toMatchObject({ exitCode: 0 });
}

describe('hotel-review sandbox', () => {
  it('has the same world each time, with moved and deleted mappings', async () => {
    const folder = await createFolder();
    const [copy, again] = [new Map<string, string>(), new Map<string, string>()];
    const first = await callSandbox(folder);
    const startedAt = await sync(first.addresses, [copy], everything);
    const sinceJuly = { lastUpdateDateTime: '2025-07-03T00:00:00Z', limit: '1000' };
    const { page } = await askPage(first.addresses, sinceJuly);
    expect(new Set(page.Mappings.map(({ Type }) => Type))).toEqual(new Set(['New', 'Update', 'Delete']));
    await stop(first);

    const { addresses } = await callSandbox(folder);
    await sync(addresses, [again], everything);
    expect(again).toEqual(copy);
    const { page: later } = await askPage(addresses, { lastUpdateDateTime: startedAt });
    expect(later).toMatchObject({ Mappings: [], ResumeKey: null, Status: true });
  });

  it('has changed by --changes since the last sync', async () => {
    const folder = await createFolder();
    const options = ['--hotels', '300'];
    const first = await callSandbox(folder, ...options);
    const copy = new Map<string, string>();
    const startedAt = await sync(first.addresses, [copy], everything);
    const before = new Map(copy);
    await stop(first);

    const { addresses } = await callSandbox(folder, ...options, '--changes', '50');
    await sync(addresses, [copy], startedAt);
    const changed = [...before].filter(([key, row]) => copy.get(key) !== row).length;
    expect(changed).toBeGreaterThan(20);
    expect(changed).toBeLessThan(100);
    const fresh = new Map<string, string>();
    await sync(addresses, [fresh], everything);
    expect(copy).toEqual(fresh);
  });

  it('has the number of hotels given by --hotels, as has a made-up day', async () => {
    const folder = await createFolder();
    const sandbox = await callSandbox(folder, '--hotels', '30');
    const copy = new Map<string, string>();
    await sync(sandbox.addresses, [copy], everything);
    const rows = [...copy.values()].map((row) => JSON.parse(row) as { ServiceId: number });
    const { mappings } = createWorld({ hotels: 30 });
    expect(rows.map(({ ServiceId }) => ServiceId).sort()).toEqual(
      mappings.map(({ serviceId }) => serviceId).sort(),
    );

    const day = await makeDayIn(folder, '--count', '200', '--hotels', '30', '--wrong-share', '0');
    expect(day.wrongMappings).toBe(0);
    const { exitCode } = await runIn(folder, 'run', '--day', '2026-11-20', '--config', 'sandbox.yaml');
    expect(exitCode).toBe(0);
    await stop(sandbox);
    expect(sumTold(sandbox)).toEqual({ accepted: day.bookings, wrong: 0 });
  });

  it('lets resume keys expire after --resume-key-days', async () => {
    const { addresses } = await callSandbox(await createFolder(), '--resume-key-days', '0');
    const { page } = await askPage(addresses, { lastUpdateDateTime: everything });
    const resumeKey = page.ResumeKey ?? '';
    const { page: refused } = await askPage(addresses, { lastUpdateDateTime: everything, resumeKey });
    expect(refused).toMatchObject({ Status: false, StatusCode: 2027 });
  });

  it('writes exports to --export-folder, where its configuration looks for them', async () => {
    const folder = await createFolder();
    const sandbox = await callSandbox(folder, '--export-folder', 'out/daily', '--result-delay', '0');
    const { addresses } = sandbox;
    const answer = await ask(addresses, '/mappings/ExportMappingsFile?emailId=ann%40agency.example');
    expect(await answer.json()).toMatchObject({ Status: true });
    await sandbox.wroteEvent(': written; e-mail: ');
    expect(await readdir(join(addresses.sftp.root, 'out/daily'))).toHaveLength(3);
    const configuration = parseYaml(await readFile(addresses.configuration, 'utf8')) as { export: object };
    expect(configuration.export).toMatchObject({ folder: 'out/daily' });
    expect(sandbox.events.join('\n')).not.toContain('ann@');
  });

  it.each<[readonly string[], string]>([
    [['--export-folder', '../out'], '--export-folder: expected a path below the SFTP root'],
    [['--export-folder', '/out'], '--export-folder: expected a path below the SFTP root'],
    [['--changes', '-1'], 'changes'],
    [['--hotels', '1'], 'hotels'],
  ])('exits with 2 for %j and says why', async (options, words) => {
    const folder = await createFolder();
    const { exitCode, stderr } = await runIn(folder, 'sandbox', '--folder', '.', ...options);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(words);
  });
});
