import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { businessDayAt } from '../src/booking/business-day.js';
import type { SandboxOptions } from '../src/cli/commands/sandbox.js';
import { exitCode } from '../src/cli/exit-code.js';
import { commandNameIn } from '../src/config/command-name.js';
import { checkSetting } from '../src/config/single-setting.js';
import { SandboxError } from '../src/sandbox/common/errors.js';
import { createFaultPlan, type FaultRule, parseFault } from '../src/sandbox/common/faults.js';
import { createSeededRandom } from '../src/sandbox/common/random.js';
import { listAddresses, renderAddresses, writeSandboxConfiguration } from '../src/sandbox/configuration.js';
import { describeEvent } from '../src/sandbox/describe-event.js';
import { startSandbox } from '../src/sandbox/sandbox.js';
import { createWorld } from '../src/sandbox/world/world.js';
import { createCommandWriter, quoteForShell } from '../src/text/shell.js';
import { UsageError } from '../src/text/usage-error.js';
import { clock } from './clock.js';
import type { Terminal } from './terminal.js';

/**
 * Runs the stand-in for the service until the process is asked to stop.
 *
 * @throws UsageError for unusable options
 */
export async function runSandbox(options: SandboxOptions, terminal: Terminal): Promise<number> {
  const rules = options.fault.map(readRule);
  checkName('--master-id-name', 'masterIdName', options.masterIdName);
  checkName('--master-id-column', 'masterIdColumn', options.masterIdColumn);
  const tls = await readTls(options, terminal);
  checkHost(options.host, tls ? 'https' : 'http');
  const folder = await openFolder(options.folder, terminal);
  checkExportFolder(options.exportFolder);
  const world = createWorld({ hotels: options.hotels });
  const startedAt = clock();
  for (let made = 0; made < options.changes; made += 1) world.change(startedAt);
  const sandbox = await startSandbox({
    ...options,
    folder,
    tls,
    world,
    faults: createFaultPlan(rules, createSeededRandom(options.seed)),
    resultDelayMs: options.resultDelay * 1000,
    clock,
    onEvent: (event) => terminal.say(describeEvent(event, clock())),
  }).catch(explain);
  try {
    const configuration = await writeSandboxConfiguration(sandbox).catch(explain);
    const commandName = commandNameIn(terminal.io.env);
    const day = businessDayAt(new Date(clock()), 'UTC').previous().iso;
    terminal.answer(
      renderAddresses(sandbox, configuration, [
        `${commandName} sandbox bookings --day ${day} --out ${quoteForShell(join(folder, `bookings-${day}.csv`))}`,
        createCommandWriter(commandName, configuration)(`run --day ${day}`),
      ]),
      listAddresses(sandbox, configuration),
    );
    await new Promise<void>((end) => {
      if (terminal.signal.aborted) return end();
      terminal.signal.addEventListener('abort', () => end(), { once: true });
    });
  } finally {
    await sandbox.close();
  }
  const { calls, reviewed, incorrect } = sandbox.service.counts;
  terminal.say(`The sandbox stopped after ${calls} calls; by body it reviewed ${reviewed} bookings,`);
  terminal.say(`${incorrect} of them wrongly mapped. Its files are kept in ${folder}`);
  return exitCode.done;
}

function readRule(text: string): FaultRule {
  try {
    return parseFault(text);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`--fault: ${error.message}`);
    throw error;
  }
}

function checkExportFolder(folder: string): void {
  const names = folder.split('/');
  if (folder === '' || names.every((name) => name !== '' && name !== '.' && name !== '..')) return;
  throw new UsageError('--export-folder: expected a path below the SFTP root such as exports/daily');
}

function checkName(option: string, setting: string, name: string): void {
  const objection = checkSetting(['service', setting], name);
  if (objection !== undefined) throw new UsageError(`${option}: ${objection}`);
}

async function readTls({ tlsCertificate, tlsKey }: SandboxOptions, { locate }: Terminal) {
  if (tlsCertificate === undefined && tlsKey === undefined) return undefined;
  if (tlsCertificate === undefined || tlsKey === undefined)
    throw new UsageError('--tls-certificate and --tls-key go together');
  const [certificate, key] = await Promise.all([
    readPem('--tls-certificate', tlsCertificate, locate),
    readPem('--tls-key', tlsKey, locate),
  ]);
  try {
    createSecureContext({ cert: certificate, key });
  } catch {
    throw new UsageError(
      '--tls-certificate and --tls-key: expected a certificate in PEM and the private key that goes with it',
    );
  }
  return { certificate, key };
}

function readPem(option: string, path: string, locate: Terminal['locate']): Promise<Buffer> {
  return readFile(locate(path)).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${option}: ${path} can't be read (${error.code}); use another file`);
  });
}

/** Refuses at once an address that the configuration would refuse later. */
function checkHost(host: string, protocol: 'http' | 'https'): void {
  const url = `${protocol}://${isIPv6(host) ? `[${host}]` : host}/api/3.0`;
  const objection = checkSetting(['service', 'baseUrl'], url);
  if (objection === undefined) return;
  const advice = protocol === 'http' ? '; --tls-certificate and --tls-key make it https' : '';
  throw new UsageError(`--host: the address of a sandbox there ${objection}${advice}`);
}

async function openFolder(folder: string | undefined, { io, locate }: Terminal): Promise<string> {
  if (folder === undefined) return mkdtemp(join(io.temporaryFolder, 'hotel-review-sandbox-'));
  const path = locate(folder);
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--folder: ${path} can't be created (${error.code}); use another folder`);
  });
  return path;
}

/** Turns an unusable folder, host or port into a UsageError about the options. */
function explain(error: unknown): never {
  if (error instanceof SandboxError) throw new UsageError(error.message);
  if (!(error instanceof Error && 'syscall' in error)) throw error;
  if (error.syscall === 'getaddrinfo' || ('code' in error && error.code === 'EADDRNOTAVAIL'))
    throw new UsageError(
      `the sandbox cannot listen: ${error.message}; set --host to a name or address of this machine, or omit it`,
    );
  if (error.syscall === 'listen')
    throw new UsageError(
      `the sandbox cannot listen: ${error.message}; choose another --port or --sftp-port, or omit them`,
    );
  throw new UsageError(`the sandbox cannot use its folder: ${error.message}; choose another --folder`);
}
