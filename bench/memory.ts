import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBusinessDay } from '../src/booking/business-day.js';
import { writeBookings } from '../src/sandbox/bookings.js';
import { startSandbox } from '../src/sandbox/service.js';

/**
 * The resident memory of `hotel-review run` for a day of a million bookings by body: at most 300 MB. The service is
 * the sandbox, in this process; what is measured is the command's own process, by the operating system's account.
 */
const rows = Number(process.argv[2] ?? 1_000_000);
const limitMb = 300;
const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const folder = await mkdtemp(join(tmpdir(), 'hotel-review-bench-'));
const account = { apiKey: 'bench', accountId: 'bench' };
const sandbox = await startSandbox(account);
await writeBookings(join(folder, 'bookings.csv'), { day, count: rows, seed: 7 });
await writeFile(
  join(folder, 'hotel-review.yaml'),
  `service: { baseUrl: "${sandbox.baseUrl}", apiKey: bench, accountId: bench }
source: { kind: csv, path: bookings.csv }
`,
);

// The command's exit hands over its own peak: Linux and macOS keep it for the process.
const measure = `process.on('exit', () => process.send(process.resourceUsage().maxRSS / 1024));`;
const child = spawn(
  process.execPath,
  [
    '--import',
    `data:text/javascript,${encodeURIComponent(measure)}`,
    new URL('../dist/jobs/hotel-review.js', import.meta.url).pathname,
    'run',
    '--day',
    day.iso,
    '--config',
    join(folder, 'hotel-review.yaml'),
  ],
  { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
);
const [[peakMb], [exitCode]] = await Promise.all([once(child, 'message'), once(child, 'exit')]);
console.log(
  `\npeak resident memory for ${rows} bookings: ${Number(peakMb).toFixed(0)} MB (limit ${limitMb} MB)`,
);
await sandbox.close();
await rm(folder, { recursive: true });
process.exitCode = exitCode === 0 && Number(peakMb) <= limitMb ? 0 : 1;
