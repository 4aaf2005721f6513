import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createFaultPlan, parseFault } from '../../src/sandbox/common/faults.js';
import { createSeededRandom } from '../../src/sandbox/common/random.js';
import { account, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.js';
import { createWorld, type World } from '../../src/sandbox/world/world.js';
import { type HttpClient, nodeHttp } from './http-clients.js';

export const startedAt = Date.UTC(2026, 10, 20, 12);

/** A mapping as the service renders it. */
export interface GivenMapping {
  readonly ServiceId: number;
  readonly ProviderHotelId: string;
  readonly ProviderName: string;
  readonly ProviderLocationCode: string;
  readonly Type: 'New' | 'Update' | 'Delete';
  readonly ChannelIds: readonly string[];
}

export const hotelOf = ({ ProviderName, ProviderHotelId }: GivenMapping) =>
  `${ProviderName} ${ProviderHotelId}`;
export const mappingOf = (mapping: GivenMapping) => `${mapping.ServiceId} ${hotelOf(mapping)}`;

export interface GivenPage {
  readonly ResumeKey: string | null;
  readonly Mappings: readonly GivenMapping[];
  readonly Status: boolean;
  readonly Message: string;
  readonly StatusCode: number;
}

export interface StartedSandbox extends Sandbox {
  readonly world: World;
  readonly told: readonly string[];
  /** The sandbox's clock, in epoch milliseconds. */
  readonly time: { now: number };
}

export interface StartOptions extends Omit<SandboxOptions, 'folder' | 'clock' | 'faults' | 'tell'> {
  readonly faults?: readonly string[];
  /** The initial time; `startedAt` by default. */
  readonly now?: number;
}

/** A sandbox of a small world whose clock only the test moves. It is closed when the test ends. */
export async function startedSandbox(options: StartOptions = {}): Promise<StartedSandbox> {
  const { faults = [], now = startedAt, world = createWorld({ seed: 1, hotels: 60 }), ...others } = options;
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-test-'));
  const told: string[] = [];
  const time = { now };
  const sandbox = await startSandbox({
    ...{ folder, world, resultDelayMs: 0 },
    ...others,
    clock: () => time.now,
    faults: createFaultPlan(faults.map(parseFault), createSeededRandom(1)),
    tell: (line) => void told.push(line),
  });
  onTestFinished(async () => {
    await sandbox.close();
    await rm(folder, { recursive: true });
  });
  return { ...sandbox, world, told, time };
}

/** Makes changes of its world, one a second. */
export function changeWorld({ world, time }: StartedSandbox, changes: number): void {
  for (let made = 0; made < changes; made += 1) {
    time.now += 1_000;
    world.change(time.now);
  }
}

export const epoch = '1970-01-01T00:00:00.000Z';

export interface Asked {
  readonly syncId?: string | undefined;
  readonly since?: string;
  readonly providerFamily?: string;
  readonly resumeKey?: string;
  readonly limit?: number;
}

/** Requests one page of mappings. */
export async function askPage(
  sandbox: StartedSandbox,
  asked: Asked = {},
  client = nodeHttp,
): Promise<GivenPage> {
  const { since = epoch, providerFamily, resumeKey, limit } = asked;
  const query = new URLSearchParams({ lastUpdateDateTime: since });
  if (providerFamily !== undefined) query.set('providerFamily', providerFamily);
  if (resumeKey !== undefined) query.set('resumeKey', resumeKey);
  if (limit !== undefined) query.set('limit', String(limit));
  const syncId = 'syncId' in asked ? asked.syncId : 'sync-1';
  return askJson(
    sandbox,
    `/mappings?${query}`,
    syncId === undefined ? {} : { syncId },
    client,
  ) as Promise<GivenPage>;
}

/** GETs a path that answers HTTP 200. */
export async function askJson(
  { service }: StartedSandbox,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  client: HttpClient = nodeHttp,
): Promise<unknown> {
  const { apiKey: apikey, accountId } = account;
  const url = `${service.baseUrl}${path}`;
  const outcome = await client.ask({ method: 'GET', url, headers: { apikey, accountId, ...headers } });
  if (outcome.kind !== 'answered' || outcome.status !== 200)
    throw new Error(`expected an answer with 200, got: ${JSON.stringify(outcome)}`);
  return JSON.parse(outcome.body);
}

/** Requests all pages, one after another. */
export async function askAll(
  sandbox: StartedSandbox,
  asked: Asked = {},
  client = nodeHttp,
): Promise<GivenMapping[]> {
  const mappings: GivenMapping[] = [];
  for (let resumeKey: string | null | undefined; resumeKey !== null; ) {
    const page = await askPage(sandbox, { limit: 1_000, ...asked, ...(resumeKey && { resumeKey }) }, client);
    if (!page.Status) throw new Error(`refused with ${page.StatusCode}: ${page.Message}`);
    mappings.push(...page.Mappings);
    resumeKey = page.ResumeKey;
  }
  return mappings;
}
