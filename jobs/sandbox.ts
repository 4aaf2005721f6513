import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { businessDayAt } from '../src/booking/business-day.js';
import type { SandboxOptions } from '../src/cli/commands/sandbox.js';
import { exitCode } from '../src/cli/exit-code.js';
import { UsageError } from '../src/review/run-day.js';
import { renderSandboxConfiguration } from '../src/sandbox/configuration.js';
import { describeEvent } from '../src/sandbox/describe-event.js';
import { createFaultPlan, type FaultRule, parseFault } from '../src/sandbox/faults.js';
import { account, type Sandbox, startSandbox } from '../src/sandbox/sandbox.js';
import { createSeededRandom } from '../src/sandbox/seeded-random.js';
import { createWorld } from '../src/sandbox/world.js';
import { commandName } from './command-name.js';
import { clock } from './compose.js';
import type { Terminal } from './terminal.js';

/** Runs the stand-in of the service until the process is asked to stop. */
export async function runSandbox(options: SandboxOptions, terminal: Terminal): Promise<number> {
  const rules = options.fault.map(readRule);
  const folder = await openFolder(options.folder);
  const sandbox = await startSandbox({
    ...options,
    folder,
    world: createWorld({ seed: options.world }),
    faults: createFaultPlan(rules, createSeededRandom(options.seed)),
    resultDelayMs: options.resultDelay * 1000,
    clock,
    onEvent: (event) => terminal.say(describeEvent(event, clock())),
  }).catch((error: unknown) => {
    throw toUsageError(error) ?? error;
  });
  try {
    const configuration = await writeConfiguration(sandbox);
    terminal.answer(renderAddresses(sandbox, configuration), {
      service: { baseUrl: sandbox.service.baseUrl, apiKey: account.apiKey, accountId: account.accountId },
      sftp: { ...sandbox.sftp, ...account.login },
      outbox: sandbox.outbox,
      folder,
      configuration,
    });
    await new Promise<void>((end) => {
      if (terminal.signal.aborted) return end();
      terminal.signal.addEventListener('abort', () => end(), { once: true });
    });
  } finally {
    await sandbox.close();
  }
  const { calls, reviewed, incorrect } = sandbox.service.counts;
  terminal.say(`The sandbox is stopped after ${calls} calls; by body it reviewed ${reviewed} bookings,`);
  terminal.say(`${incorrect} of them wrongly mapped. Its files are kept in ${folder}`);
  return exitCode.done;
}

/** Written anew by every start: the ports may be others. */
export async function writeConfiguration(sandbox: Sandbox): Promise<string> {
  const path = join(sandbox.folder, 'sandbox.yaml');
  await writeFile(path, renderSandboxConfiguration(sandbox), { mode: 0o600 });
  return path;
}

function readRule(text: string): FaultRule {
  try {
    return parseFault(text);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`--fault: ${error.message}`);
    throw error;
  }
}

/** A port that is taken, or that not everybody may listen on. */
function toUsageError(error: unknown): UsageError | undefined {
  if (!(error instanceof Error && 'syscall' in error && error.syscall === 'listen')) return undefined;
  return new UsageError(
    `the sandbox cannot listen: ${error.message}; give --port or --sftp-port another one, or none`,
  );
}

async function openFolder(folder: string | undefined): Promise<string> {
  if (folder === undefined) return mkdtemp(join(tmpdir(), 'hotel-review-sandbox-'));
  const path = resolve(folder);
  await mkdir(path, { recursive: true, mode: 0o700 });
  return path;
}

function renderAddresses({ folder, service, sftp, outbox }: Sandbox, configuration: string): string {
  const { login } = account;
  const day = businessDayAt(new Date(clock()), 'UTC').previous().iso;
  return `The sandbox runs; Ctrl-C stops it.

  service        ${service.baseUrl}
                 apikey: ${account.apiKey}   accountId: ${account.accountId}
  SFTP           ${login.username}@${sftp.host}, port ${sftp.port}, password ${login.password}
                 host key ${sftp.fingerprint}
  e-mails        ${outbox}
  configuration  ${configuration}

A day of bookings for it, and its review:
  ${commandName} sandbox bookings --day ${day} --out ${join(folder, `bookings-${day}.csv`)}
  ${commandName} run --day ${day} --config ${configuration}
`;
}
