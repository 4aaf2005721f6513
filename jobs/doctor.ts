import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createBusinessDay } from '../src/booking/business-day.js';
import { exitCode } from '../src/cli/exit-code.js';
import { dotEnvName } from '../src/config/dot-env.js';
import { type Config, loadConfig } from '../src/config/load.js';
import type { Check } from '../src/doctor/check.js';
import { checkClock, dayOfRun } from '../src/doctor/clock.js';
import { findSftpServer, readConfiguration } from '../src/doctor/configuration.js';
import { checkDisk } from '../src/doctor/disk.js';
import { examineAll } from '../src/doctor/examination.js';
import { checkFileModes } from '../src/doctor/file-modes.js';
import type { Finding } from '../src/doctor/finding.js';
import { checkKeptFolder } from '../src/doctor/kept-folder.js';
import { checkLedger } from '../src/doctor/ledger.js';
import { renderCount, renderFinding } from '../src/doctor/render.js';
import { checkService } from '../src/doctor/service.js';
import { checkSftp, noSftpServer, showHostKey } from '../src/doctor/sftp.js';
import { checkSource } from '../src/doctor/source.js';
import { type Probe, probeService } from '../src/mapping-service/probe.js';
import type { PresentedKey } from '../src/sftp/host-key.js';
import { presentHostKey } from '../src/sftp/present-host-key.js';
import { clock, composeCollect, findLedger } from './compose.js';
import { openSftp } from './deliveries.js';
import type { Terminal } from './terminal.js';

const { platform } = process;
const serviceSeconds = 10;
const sftpConnectMs = 10_000;
const sftpNoProgressMs = 5_000;
const temporaryFolder = tmpdir();

/** Tries everything that a run needs, and says what to mend. Answers the exit code: 2 when something is wrong. */
export async function examine(
  options: { readonly day?: string },
  globals: { readonly config: string },
  terminal: Terminal,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const file = resolve(globals.config);
  const tell = (finding: Finding) => terminal.say(renderFinding(finding));
  const { config, findings, wrongSettings } = await readConfiguration(file, () => loadConfig({ file, env }));
  for (const finding of findings) tell(finding);

  const groups = config
    ? listChecks(config, file, options.day)
    : await listChecksWithoutConfiguration(file, env, wrongSettings);
  const all = [...findings, ...(await examineAll(groups, { signal: terminal.signal, tell }))];
  const isWrong = all.some(({ verdict }) => verdict === 'wrong');
  terminal.say(renderCount(all));
  terminal.report({ ok: !isWrong, findings: all });
  return isWrong ? exitCode.usage : exitCode.done;
}

function listChecks(config: Config, file: string, day: string | undefined): Check[][] {
  const { timezone } = config;
  const runsDay = dayOfRun(new Date(clock()), timezone);
  const collect = composeCollect(config);
  const askOnce = createProbe(config);
  return [
    // Before the ledger is opened, which closes its file to others.
    [fileModesCheck(listClosedFiles(config, file))],
    // Apart from the ledger, for which everything else would have to wait.
    [
      {
        part: 'clock',
        seconds: serviceSeconds + 5,
        look: (signal) => checkClock({ clock, zone: timezone, askService: () => askOnce(signal) }),
      },
      {
        part: 'source',
        seconds: 10,
        look: (signal) => {
          const tried = day === undefined ? runsDay : createBusinessDay(day, timezone);
          const { maxRejectedShare, emptyDay } = config;
          return checkSource({ ...collect, day: tried, maxRejectedShare, emptyDay }, signal);
        },
      },
      {
        part: 'service',
        seconds: serviceSeconds + 5,
        look: (signal) => checkService({ baseUrl: config.service.baseUrl, probe: () => askOnce(signal) }),
      },
      {
        part: 'sftp',
        seconds: 25,
        look: async (signal) => {
          const { sftp, resultPattern } = config.file;
          if (sftp === undefined) return [noSftpServer];
          let key: PresentedKey | undefined;
          const server = openSftp(config, {
            connectTimeoutMs: sftpConnectMs,
            noProgressMs: sftpNoProgressMs,
            onHostKey: (presented) => {
              key = presented;
            },
          });
          const address = `${sftp.username}@${sftp.host}:${sftp.port}`;
          const parts = {
            server,
            presentedKey: () => key,
            address,
            day: runsDay,
            resultPattern,
            temporaryFolder,
          };
          return checkSftp(parts, signal);
        },
      },
    ],
    [...listLedgerCheck(config)],
    listFolderChecks(config),
  ];
}

/** Several checks want to know what the service says; it is called once. */
function createProbe({ service }: Config): (signal: AbortSignal) => Promise<Probe> {
  let probing: Promise<Probe> | undefined;
  return (signal) => {
    probing ??= probeService(
      {
        baseUrl: service.baseUrl,
        apiKey: service.apiKey,
        accountId: service.accountId,
        statusCodes: service.statusCodes,
        timeoutMs: Math.min(service.timeoutSeconds, serviceSeconds) * 1000,
        connectTimeoutMs: Math.min(service.connectTimeoutSeconds, serviceSeconds) * 1000,
        clock: () => new Date(clock()),
      },
      { signal },
    );
    return probing;
  };
}

function listLedgerCheck(config: Config): Check[] {
  const { ledger } = config;
  if (ledger.kind !== 'sqlite') return [];
  const open = () => findLedger(config);
  return [{ part: 'ledger', seconds: 20, look: () => checkLedger({ path: ledger.path, open }) }];
}

function listFolderChecks({ archive, ledger, file: { spool } }: Config): Check[] {
  const kept = [
    ...(archive.kind === 'directory' ? [{ part: 'archive' as const, path: archive.path }] : []),
    { part: 'spool' as const, path: spool },
  ];
  const written = [
    ...(ledger.kind === 'sqlite' ? [{ name: 'ledger', path: dirname(ledger.path) }] : []),
    ...kept.map(({ part, path }) => ({ name: part, path })),
  ];
  return [
    ...kept.map(
      (folder): Check => ({
        part: folder.part,
        seconds: 5,
        look: () => checkKeptFolder({ ...folder, platform }),
      }),
    ),
    { part: 'disk', seconds: 5, look: () => checkDisk(written) },
  ];
}

/** The few things that can be looked at while the configuration is wrong. */
async function listChecksWithoutConfiguration(
  file: string,
  env: NodeJS.ProcessEnv,
  wrongSettings: readonly string[],
): Promise<Check[][]> {
  const checks = [fileModesCheck([envFileBeside(file)])];
  const isUnpinned = wrongSettings.some((path) => path.startsWith('file.sftp.hostKey'));
  const server = isUnpinned ? await findSftpServer(file, env) : undefined;
  if (server) {
    checks.push({
      part: 'sftp',
      seconds: 15,
      look: (signal) =>
        showHostKey(server, () => presentHostKey({ ...server, timeoutMs: sftpConnectMs }, signal)),
    });
  }
  return [checks];
}

function fileModesCheck(files: Parameters<typeof checkFileModes>[0]['files']): Check {
  return { part: 'file-modes', seconds: 5, look: () => checkFileModes({ files, platform }) };
}

function listClosedFiles({ literalSecrets, ledger, file: { sftp } }: Config, file: string) {
  return [
    ...(literalSecrets.length > 0 ? [{ path: file, holds: 'a secret' }] : []),
    envFileBeside(file),
    ...(sftp?.privateKeyFile === undefined ? [] : [{ path: sftp.privateKeyFile, holds: 'a private key' }]),
    ...(ledger.kind === 'sqlite' ? [{ path: ledger.path, holds: "guests' names" }] : []),
  ];
}

function envFileBeside(file: string) {
  return { path: join(dirname(file), dotEnvName), holds: 'secrets' };
}
