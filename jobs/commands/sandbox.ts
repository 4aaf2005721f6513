import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { createCommandWriter, quoteForShell } from '../../src/base/shell.js';
import { UsageError } from '../../src/base/usage-error.js';
import { businessDayAt } from '../../src/booking/business-day.js';
import { commandNameIn } from '../../src/config/command-name.js';
import { checkSetting } from '../../src/config/single-setting.js';
import { SandboxError } from '../../src/sandbox/common/errors.js';
import { createFaultPlan, type FaultRule, parseFault } from '../../src/sandbox/common/faults.js';
import { createSeededRandom } from '../../src/sandbox/common/random.js';
import {
  listAddresses,
  renderAddresses,
  writeSandboxConfiguration,
} from '../../src/sandbox/configuration.js';
import { describeEvent } from '../../src/sandbox/describe-event.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { createWorld } from '../../src/sandbox/world/world.js';
import { clock } from '../clock.js';
import { bareCommand, numberUpTo, option, wholeNumber } from '../command.js';
import { exitCode } from '../exit-code.js';
import bookings, { anySeed, hotels } from '../sandbox-bookings.js';
import type { Terminal } from '../terminal.js';

const hourInSeconds = 3_600;
const noRules: readonly string[] = [];

/** Runs the stand-in for the service until the process is asked to stop. */
export default bareCommand({
  place: ['common', 10],
  summary: 'run a stand-in for the mapping service on this machine: HTTP, SFTP and an e-mail outbox',
  options: {
    folder: option('--folder <dir>', 'the folder for its files (default: a new temporary folder)'),
    host: option(
      '--host <host>',
      'the name or address under which others reach this machine',
      undefined,
      '127.0.0.1',
    ),
    port: option('--port <port>', 'the port of the service; 0 picks a free one', wholeNumber(0, 65_535), 0),
    sftpPort: option('--sftp-port <port>', 'the port of the SFTP server', wholeNumber(0, 65_535), 0),
    tlsCertificate: option(
      '--tls-certificate <file>',
      'serve https with this certificate; required unless --host is loopback',
    ),
    tlsKey: option('--tls-key <file>', 'its private key'),
    hotels,
    changes: option(
      '--changes <changes>',
      'change so many mappings now, after those that a sync has seen already',
      wholeNumber(0, 100_000),
      0,
    ),
    seed: option('--seed <seed>', 'decides which calls are hit by faults with a rate', anySeed, 1),
    fault: option(
      '--fault <rule>',
      'a fault and when: status:503@10%, by-file/latency:5@3, result-late:30@1-2; repeatable',
      (rule, before) => [...before, rule],
      noRules,
    ),
    resultDelay: option(
      '--result-delay <seconds>',
      'how long after the call a result or an export appears',
      numberUpTo(hourInSeconds),
      2,
    ),
    maxLimit: option(
      '--max-limit <mappings>',
      'the largest number of mappings per page',
      wholeNumber(1, 1_000_000),
      1_000,
    ),
  },
  examples: `
It prints its addresses and writes a matching configuration into its folder.
Ctrl-C stops it.

Examples:
  hotel-review sandbox --folder sandbox --port 8080 --sftp-port 2222
  hotel-review sandbox --fault status:503@10% --fault latency:5@3
                                  a tenth of the calls fail, the third is slow
  hotel-review sandbox --folder sandbox --changes 20
                                  twenty changes since the last sync
  hotel-review sandbox bookings --count 20000 --out bookings.csv
                                  a day of bookings for it`,
  commands: { bookings },

  async run(bare, { fault, tlsCertificate, tlsKey, changes, resultDelay, ...options }) {
    const { signal, io, locate } = bare;
    const rules = fault.map(readRule);
    const tls = await readTls(tlsCertificate, tlsKey, locate);
    checkHost(options.host, tls ? 'https' : 'http');
    const folder = await openFolder(options.folder, bare);
    const world = createWorld({ hotels: options.hotels });
    const startedAt = clock();
    for (let made = 0; made < changes; made += 1) world.change(startedAt);
    const sandbox = await startSandbox({
      ...options,
      folder,
      tls,
      world,
      faults: createFaultPlan(rules, createSeededRandom(options.seed)),
      resultDelayMs: resultDelay * 1000,
      clock,
      onEvent: (event) => bare.say(describeEvent(event, clock())),
    }).catch(explain);
    try {
      const configuration = await writeSandboxConfiguration(sandbox).catch(explain);
      const commandName = commandNameIn(io.env, io.script);
      const day = businessDayAt(new Date(clock()), 'UTC').previous().iso;
      bare.answer(
        renderAddresses(sandbox, configuration, [
          `${commandName} sandbox bookings --day ${day} --out ${quoteForShell(join(folder, `bookings-${day}.csv`))}`,
          createCommandWriter(commandName, configuration)(`run --day ${day}`),
        ]),
        listAddresses(sandbox, configuration),
      );
      await new Promise<void>((end) => {
        if (signal.aborted) return end();
        signal.addEventListener('abort', () => end(), { once: true });
      });
    } finally {
      await sandbox.close();
    }
    const { calls, reviewed, incorrect } = sandbox.service.counts;
    bare.say(`The sandbox stopped after ${calls} calls; by body it reviewed ${reviewed} bookings,`);
    bare.say(`${incorrect} of them wrongly mapped. Its files are kept in ${folder}`);
    return exitCode.done;
  },
});

function readRule(text: string): FaultRule {
  try {
    return parseFault(text);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`--fault: ${error.message}`);
    throw error;
  }
}

async function readTls(
  tlsCertificate: string | undefined,
  tlsKey: string | undefined,
  locate: Terminal['locate'],
) {
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
