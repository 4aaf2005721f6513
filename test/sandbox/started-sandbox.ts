import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { account } from '../../src/sandbox/common/account.js';
import { createFaultPlan, parseFault } from '../../src/sandbox/common/faults.js';
import { createSeededRandom } from '../../src/sandbox/common/random.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.js';
import { createWorld, type World } from '../../src/sandbox/world/world.js';
import { decodeQuotedPrintable } from '../support/email.js';
import { patienceMs } from '../support/patience.js';

export const startedAt = Date.UTC(2026, 10, 20, 14, 3, 7);
export const accountHeaders = { apikey: account.apiKey, accountId: account.accountId };
export const byBody = '/hotels/ReviewMappingsOfBookedHotels';
export const byFile = '/hotels/ReviewMappingsOfBookedHotelsByFile';
export const accepted = { Status: true, Message: expect.any(String), StatusCode: 2000 };
export const refused = (StatusCode: number) => ({ Status: false, Message: expect.any(String), StatusCode });

export interface StartedSandbox extends Sandbox {
  readonly world: World;
  readonly told: readonly string[];
  /** The sandbox's clock, in epoch milliseconds. */
  readonly time: { now: number };
}

interface StartOptions extends Omit<SandboxOptions, 'folder' | 'clock' | 'faults' | 'tell'> {
  /** As on the command line: `status:503@2`. */
  readonly faults?: readonly string[];
  readonly seed?: number;
}

/** A sandbox of a small world whose clock only the test moves. It is closed when the test ends. */
export async function startedSandbox({ faults = [], seed = 1, ...others }: StartOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-test-'));
  const world = others.world ?? createWorld({ seed: 1, hotels: 60 });
  const told: string[] = [];
  const time = { now: startedAt };
  const sandbox = await startSandbox({
    ...{ folder, world, resultDelayMs: 0 },
    ...others,
    clock: () => time.now,
    faults: createFaultPlan(faults.map(parseFault), createSeededRandom(seed)),
    tell: (line) => void told.push(line),
  });
  onTestFinished(async () => {
    await sandbox.close();
    await rm(folder, { recursive: true });
  });
  return { ...sandbox, world, told, time };
}

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** A call with the account's headers. */
export async function ask({ service }: StartedSandbox, path: string, { headers, ...call }: Call = {}) {
  const answer = await fetch(`${service.baseUrl}${path}`, {
    headers: { ...accountHeaders, ...headers },
    ...call,
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, json: text === '' ? undefined : JSON.parse(text) };
}

/** A review by body. */
export function post(sandbox: StartedSandbox, body: unknown, call: Call = {}) {
  const headers = { 'Content-Type': 'application/json', ...call.headers };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return ask(sandbox, byBody, { method: 'POST', body: text, ...call, headers });
}

/** A booking as it is submitted with a correct mapping, and the same with the master id of another hotel. */
export function bookingsOf({ mappings }: World) {
  const [first, second] = mappings.filter(({ providerName }) => providerName === 'NorthStar');
  if (!first || !second) throw new Error('expected a world in which NorthStar sells two hotels');
  const right = {
    ServiceId: first.serviceId,
    BookingReferenceId: 'BR-1',
    BookingClientName: 'Ana Núñez',
    ProviderName: first.providerName,
    ProviderHotelId: first.providerHotelId,
    CheckInDate: '2026-11-20',
    CheckOutDate: '2026-11-22',
  };
  return { right, wrong: { ...right, ServiceId: second.serviceId } };
}

export const filePath = 'VerifyMappings/112026/20112026.csv';

/** Uploads a file as it lies on the server's disk. */
export async function put({ sftp }: StartedSandbox, content: string | Uint8Array, path = filePath) {
  await mkdir(dirname(join(sftp.root, path)), { recursive: true });
  await writeFile(join(sftp.root, path), content);
}

export async function waitForLine({ told }: StartedSandbox, part: string, count = 1): Promise<void> {
  const found = () => told.filter((line) => line.includes(part)).length >= count;
  await vi.waitUntil(found, { timeout: patienceMs, interval: 5 });
}

/** The e-mails in the outbox, decoded, the oldest first. */
export async function readOutbox({ outbox }: StartedSandbox): Promise<string[]> {
  const names = (await readdir(outbox)).sort();
  return Promise.all(
    names.map(async (name) => decodeQuotedPrintable(await readFile(join(outbox, name), 'latin1'))),
  );
}

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

interface Asked {
  readonly syncId?: string;
  readonly since?: string;
  readonly providerFamily?: string;
  readonly resumeKey?: string;
  readonly limit?: number;
}

/** Requests one page of mappings. */
export async function askPage(sandbox: StartedSandbox, { since, syncId = 'sync-1', ...asked }: Asked = {}) {
  const query = new URLSearchParams({ lastUpdateDateTime: since ?? '1970-01-01T00:00:00.000Z' });
  for (const [name, value] of Object.entries(asked)) query.set(name, String(value));
  const { json } = await ask(sandbox, `/mappings?${query}`, { headers: { syncId } });
  return json as {
    readonly ResumeKey: string | null;
    readonly Mappings: readonly GivenMapping[];
    readonly StatusCode: number;
  };
}

/** Requests all pages, one after another. */
export async function askAll(sandbox: StartedSandbox, asked: Asked = {}): Promise<GivenMapping[]> {
  const mappings: GivenMapping[] = [];
  for (let resumeKey: string | null | undefined; resumeKey !== null; ) {
    const page = await askPage(sandbox, { limit: 1_000, ...asked, ...(resumeKey && { resumeKey }) });
    mappings.push(...page.Mappings);
    resumeKey = page.ResumeKey;
  }
  return mappings;
}

/** Makes changes of its world, one a second. */
export function changeWorld({ world, time }: StartedSandbox, changes: number): void {
  for (let made = 0; made < changes; made += 1) {
    time.now += 1_000;
    world.change(time.now);
  }
}
