import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { DayCounts } from '../../src/sandbox/bookings/day-text.js';
import { writeDayFile } from '../../src/sandbox/bookings/write-day.js';
import { createFaultPlan, parseFault } from '../../src/sandbox/common/faults.js';
import { createSeededRandom } from '../../src/sandbox/common/random.js';
import { renderSandboxConfiguration } from '../../src/sandbox/configuration.js';
import { type Sandbox, type SandboxEvent, startSandbox } from '../../src/sandbox/sandbox.js';
import { createWorld } from '../../src/sandbox/world/world.js';
import { createDayFolder, type DayFolder, day, type Settings } from '../support/day-folder.js';

export interface SandboxDayOptions {
  /** As for `--fault`. */
  readonly faults?: readonly string[];
  readonly settings?: Settings;
  readonly count?: number;
  readonly errorShape?: 'envelope' | 'code-message';
  readonly resultDelayMs?: number;
}

export interface SandboxDay {
  readonly sandbox: Sandbox;
  readonly folder: DayFolder;
  /** The contents of the made-up day. */
  readonly counts: DayCounts;
  readonly events: readonly SandboxEvent[];
}

interface Groups extends Settings {
  readonly service: Settings;
  readonly file: Settings;
}

/** A running sandbox and a folder configured for it, with a made-up day in which a tenth of the mappings are wrong. */
export async function prepareSandboxDay({
  faults = [],
  settings = {},
  count = 300,
  errorShape = 'envelope',
  resultDelayMs = 0,
}: SandboxDayOptions): Promise<SandboxDay> {
  const world = createWorld();
  const events: SandboxEvent[] = [];
  const sandboxFolder = await mkdtemp(join(tmpdir(), 'sandbox-test-'));
  const sandbox = await startSandbox({
    folder: sandboxFolder,
    faults: createFaultPlan(faults.map(parseFault), createSeededRandom(1)),
    errorShape,
    resultDelayMs,
    clock: Date.now,
    onEvent: (event) => events.push(event),
  });
  onTestFinished(async () => {
    await sandbox.close();
    await rm(sandboxFolder, { recursive: true });
  });
  const { service, file } = parseYaml(renderSandboxConfiguration(sandbox)) as Groups;
  const { service: serviceSettings, file: fileSettings, ...others } = settings as Partial<Groups>;
  const folder = await createDayFolder({
    baseUrl: sandbox.service.baseUrl,
    settings: {
      service: { ...service, ...serviceSettings },
      file: { ...file, resultPollSeconds: 0.05, resultQuietSeconds: 0.5, ...fileSettings },
      maxAffectedShare: 1,
      ...others,
    },
  });
  const counts = await writeDayFile(
    folder.bookingsFile,
    { day, count, seed: 1, world, wrongShare: 0.1 },
    'csv',
  );
  return { sandbox, folder, counts, events };
}

/** The references of the affected bookings, by `hotel-review affected`. */
export async function listAffected({ folder }: SandboxDay): Promise<readonly string[]> {
  const { json } = await folder.run(['affected', day, '--json']);
  const { affected } = json as { affected: readonly { BookingReferenceId: string }[] };
  return affected.map(({ BookingReferenceId }) => BookingReferenceId);
}
