import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBusinessDay } from '../src/booking/business-day.js';
import { renderSandboxConfiguration } from '../src/sandbox/configuration.js';
import { startSandbox } from '../src/sandbox/sandbox.js';
import { judgePeak, runMeasured } from './peak-memory.js';
import { writeBookings } from './usual-day.js';

/**
 * The resident memory of `hotel-review run` for a day of a million bookings by body: at most 300 MB. The service is
 * the sandbox, in this process; what is measured is the command's own process, by the operating system's account.
 */
const rows = Number(process.argv[2] ?? 1_000_000);
const limitMb = 300;
const day = createBusinessDay('2026-11-20', 'UTC');
const folder = await mkdtemp(join(tmpdir(), 'hotel-review-bench-'));
const sandbox = await startSandbox({ folder, clock: Date.now });
await writeBookings(join(folder, `bookings-${day.iso}.csv`), { day, count: rows, seed: 7 });
const configuration = join(folder, 'sandbox.yaml');
await writeFile(configuration, renderSandboxConfiguration(sandbox));
const { exitCode, peakMb } = await runMeasured(['run', '--day', day.iso, '--config', configuration]);
const holds = judgePeak(`${rows} bookings by body`, peakMb, limitMb);
await sandbox.close();
await rm(folder, { recursive: true });
process.exitCode = exitCode === 0 && holds ? 0 : 1;
