import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { InvalidArgumentError } from 'commander';
import { untilAborted } from '../../src/base/abort.js';
import { print } from '../../src/base/foreign-text.js';
import { formatCount } from '../../src/base/format.js';
import { UsageError } from '../../src/base/safe-error.js';
import { createCommandWriter, quoteForShell } from '../../src/base/shell.js';
import { renderTable } from '../../src/base/tables.js';
import { businessDayAt } from '../../src/booking/business-day.js';
import { commandNameIn } from '../../src/config/command-name.js';
import { type DayCounts, renderDay } from '../../src/sandbox/bookings/day-text.js';
import {
  formatOfName,
  NameTakenError,
  streamDay,
  writeDayFile,
} from '../../src/sandbox/bookings/write-day.js';
import { SandboxError } from '../../src/sandbox/common/errors.js';
import { createFaultPlan, type FaultRule, parseFault } from '../../src/sandbox/common/faults.js';
import { createSeededRandom } from '../../src/sandbox/common/random.js';
import {
  listAddresses,
  renderAddresses,
  writeSandboxConfiguration,
} from '../../src/sandbox/configuration.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { createWorld } from '../../src/sandbox/world/world.js';
import { checkBaseUrl } from '../../src/service/client.js';
import { clock } from '../clock.js';
import { bareCommand, numberUpTo, option, optionalDay, readDayIn, wholeNumber } from '../command.js';
import { exitCode } from '../exit-code.js';
import type { Terminal } from '../terminal.js';

/** System errors that the given name causes. */
const unusableNameCodes: readonly unknown[] = [
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENAMETOOLONG',
  'ELOOP',
  'EINVAL',
];

const anySeed = wholeNumber(0, 2 ** 32 - 1);

export const hotels = option(
  '--hotels <hotels>',
  'the number of hotels; there are about 3.6 times as many mappings',
  { read: wholeNumber(2, 1_000_000), otherwise: 2_000 },
);

/** Writes a made-up day to a file, or to standard output with a summary on standard error. */
const bookings = bareCommand({
  summary: "generate a day of bookings for the sandbox's hotels, some of them wrongly mapped",
  day: optionalDay('default: yesterday, in UTC'),
  options: {
    count: option('--count <records>', 'how many records', {
      read: wholeNumber(0, 100_000_000),
      otherwise: 1_000,
    }),
    seed: option('--seed <seed>', 'the same seed makes the same day', { read: anySeed, otherwise: 1 }),
    hotels,
    wrongShare: option('--wrong-share <share>', 'the share of wrongly mapped bookings', {
      read: numberUpTo(1),
      otherwise: 0.02,
    }),
    format: option('--format <format>', 'the format (default: by the name of --out, else csv)', {
      choices: ['csv', 'ndjson'],
    }),
    out: option(
      '--out <file>',
      'write to this file (.csv, .ndjson, each also .gz) instead of standard output',
    ),
  },
  examples: `
Examples:
  hotel-review sandbox bookings --day 2026-11-20 --count 20 --seed 7
  hotel-review sandbox bookings --count 1000000 --out bookings.ndjson.gz`,

  read(given, { globals, outer }) {
    const unknown = Object.keys(outer).find((name) => !shared.includes(name));
    if (unknown !== undefined) {
      const flag = unknown.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      throw new InvalidArgumentError(`unknown option '--${flag}'`);
    }
    if (globals.json && given.out === undefined)
      throw new InvalidArgumentError('--json requires --out: without it, standard output holds the bookings');
    return { ...given, ...outer };
  },

  async run(bare, { day: written, ...options }) {
    const { seed, out } = options;
    const { signal } = bare;
    const day = readDayIn('UTC', written).iso;
    const format = options.format ?? (out === undefined ? 'csv' : formatOfName(out));
    if (format === undefined)
      throw new UsageError(
        `--out ${out}: expected a name ending in .csv, .csv.gz, .ndjson or .ndjson.gz; or give --format`,
      );
    try {
      const made = { ...options, day, world: createWorld({ hotels: options.hotels }) };
      if (out !== undefined) {
        const counts = await writeDayFile(bare.locate(out), made, format, { signal });
        return bare.answer(renderSummary(day, counts, out), { day, seed, format, ...counts, out });
      }
      const { stdout, stderr } = bare.io;
      const text = renderDay(made, format, { signal });
      const isWhole = await streamDay(text, stdout, { signal });
      if (isWhole) print(stderr, renderSummary(day, text.counts(), 'standard output'));
      return exitCode.done;
    } catch (error) {
      throw toUsageError(error, out) ?? error;
    }
  },
});

/** Commander assigns these to `sandbox`, which has them, too. */
const shared = ['seed', 'hotels'];

function renderSummary(day: string, counts: DayCounts, where: string): string {
  const { records, bookings, duplicates, rejected, rejects, incomplete, wrongMappings } = counts;
  const [example] = counts.wrongReferences;
  const rows: readonly (readonly [string, number])[] = [
    ['bookings', bookings],
    ['duplicates', duplicates],
    ['rejected', rejected],
    ...rejects.map(({ reason, count }): [string, number] => [`  ${reason}`, count]),
    ['bookings that lack a field', incomplete],
    ["bookings that can't go into a review file", counts.unfitForFile],
    ['wrong mappings', wrongMappings],
  ];
  return [
    `${where}: a made-up day of ${formatCount(records)} records for ${day}`,
    renderTable(rows.map(([name, count]) => [name, formatCount(count)])),
    ...(example === undefined ? [] : [`  the first wrong mapping is ${example}`]),
    '',
  ].join('\n');
}

function toUsageError(error: unknown, out: string | undefined): UsageError | undefined {
  if (error instanceof NameTakenError)
    return new UsageError(`--out: ${out} already exists; choose a new name`);
  if (
    out !== undefined &&
    error instanceof Error &&
    'code' in error &&
    unusableNameCodes.includes(error.code)
  )
    return new UsageError(`--out: ${out} can't be written (${error.code}); choose another name`);
  return undefined;
}

const hourInSeconds = 3_600;
const noRules: readonly string[] = [];

/** Runs the stand-in for the service until the process is asked to stop. */
export default bareCommand({
  place: ['common', 10],
  summary: 'run a stand-in for the mapping service on this machine: HTTP, SFTP and an e-mail outbox',
  options: {
    folder: option('--folder <dir>', 'the folder for its files (default: a new temporary folder)'),
    host: option('--host <host>', 'the name or address under which others reach this machine', {
      otherwise: '127.0.0.1',
    }),
    port: option('--port <port>', 'the port of the service; 0 picks a free one', {
      read: wholeNumber(0, 65_535),
      otherwise: 0,
    }),
    sftpPort: option('--sftp-port <port>', 'the port of the SFTP server', {
      read: wholeNumber(0, 65_535),
      otherwise: 0,
    }),
    tlsCertificate: option(
      '--tls-certificate <file>',
      'serve https with this certificate; required unless --host is loopback',
    ),
    tlsKey: option('--tls-key <file>', 'its private key'),
    hotels,
    changes: option(
      '--changes <changes>',
      'change so many mappings now, after those that a sync has seen already',
      { read: wholeNumber(0, 100_000), otherwise: 0 },
    ),
    seed: option('--seed <seed>', 'decides which calls are hit by faults with a rate', {
      read: anySeed,
      otherwise: 1,
    }),
    fault: option(
      '--fault <rule>',
      'a fault and when: status:503@10%, by-file/latency:5@3, result-late:30@1-2; repeatable',
      { read: (rule: string, before: readonly string[]) => [...before, rule], otherwise: noRules },
    ),
    resultDelay: option('--result-delay <seconds>', 'how long after the call a result or an export appears', {
      read: numberUpTo(hourInSeconds),
      otherwise: 2,
    }),
    maxLimit: option('--max-limit <mappings>', 'the largest number of mappings per page', {
      read: wholeNumber(1, 1_000_000),
      otherwise: 1_000,
    }),
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
      tell: (line) => bare.say(`${new Date(clock()).toISOString().slice(11, 19)}  ${line}`),
    }).catch(explain);
    try {
      const configuration = await writeSandboxConfiguration(sandbox).catch(explain);
      const commandName = commandNameIn(io.env, io.script);
      const day = businessDayAt(new Date(clock()), 'UTC').previous().iso;
      bare.answer(
        renderAddresses(sandbox, configuration, [
          `${commandName} sandbox bookings --day ${day} --out ${quoteForShell(join(folder, `bookings-${day}.csv`))}`,
          createCommandWriter(commandName, configuration)(`run ${day}`),
        ]),
        listAddresses(sandbox, configuration),
      );
      await untilAborted(signal);
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
  const objection = checkBaseUrl(url);
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
