import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { businessDayAt } from '../src/booking/business-day.js';
import { listenForStop } from '../src/cli/stop-signal.js';
import { loadConfig } from '../src/config/load.js';
import { writeBookings } from '../src/sandbox/bookings.js';
import { startSandbox } from '../src/sandbox/service.js';
import { reviewDay } from './review-day.js';
import { createTerminal } from './terminal.js';

/** `npm start`: a made-up day reviewed against the sandbox, with nothing to set up and nothing left running. */
const bookings = 20_000;
const account = { apiKey: 'sandbox-key', accountId: 'sandbox-account' };

const { stdout: output, stderr: errors } = process;
const stop = listenForStop(process, errors);
const terminal = createTerminal({ json: false, signal: stop.signal, output, errors });
const folder = await mkdtemp(join(tmpdir(), 'hotel-review-'));
const sandbox = await startSandbox(account);
try {
  const day = businessDayAt(new Date(), 'Europe/Madrid').previous();
  terminal.say(
    `A made-up day of ${bookings} bookings, reviewed by a sandbox on this machine, in ${folder}\n`,
  );
  await writeBookings(join(folder, `bookings-${day.iso}.csv`), { day, count: bookings, seed: 1 });
  const file = join(folder, 'hotel-review.yaml');
  await writeFile(file, configurationFor(sandbox.baseUrl), { mode: 0o600 });
  const config = await loadConfig({ file, env: {} });
  process.exitCode = await reviewDay(config, day, { mode: 'run', trigger: 'manual' }, terminal);
  terminal.say(
    `The sandbox took ${sandbox.reviewed} bookings for review and is stopped; the folder is kept.`,
  );
  terminal.say(`\nAsk about a booking:  npx hotel-review show BR-42 --config ${file}`);
  terminal.say(`See the day again:    npx hotel-review status ${day.iso} --config ${file}`);
  terminal.say('Your own account:     five steps in README.md');
} finally {
  terminal.endProgress();
  await sandbox.close();
  stop.ignore();
}

function configurationFor(baseUrl: string): string {
  return `timezone: Europe/Madrid
service:
  baseUrl: ${baseUrl}
  apiKey: ${account.apiKey}
  accountId: ${account.accountId}
source:
  kind: csv
  path: bookings-{day}.csv
`;
}
