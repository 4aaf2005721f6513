import { exitCode } from '../src/cli/exit-code.js';
import { type Config, loadConfig } from '../src/config/load.js';
import { checkCanary } from '../src/doctor/canary.js';
import { checkChannels, checkMessages } from '../src/doctor/channels.js';
import { findUnpinnedServers, readConfiguration, type UnpinnedServer } from '../src/doctor/configuration.js';
import { checkDeadline } from '../src/doctor/deadline.js';
import {
  checkFileModes,
  listClosedFiles,
  listKeptFolders,
  listWrittenPlaces,
} from '../src/doctor/file-modes.js';
import { checkDisk, checkKeptFolder } from '../src/doctor/folders.js';
import { checkKeptBucket } from '../src/doctor/kept-bucket.js';
import { checkKeys, warnOfLostKeys } from '../src/doctor/keys.js';
import { checkLedger, type LedgerPlace } from '../src/doctor/ledger.js';
import { checkMailbox, checkSenders } from '../src/doctor/mailbox.js';
import { checkOldestNames, unknownNames } from '../src/doctor/oldest-names.js';
import { checkQueue } from '../src/doctor/queue.js';
import { checkRemoval } from '../src/doctor/removal.js';
import { checkSharedPlaces, warnAboutPlainConnection } from '../src/doctor/risky-settings.js';
import { checkServer } from '../src/doctor/server.js';
import {
  checkClock,
  checkService,
  createServiceProbe,
  dayOfRun,
  longestProbeSeconds,
} from '../src/doctor/service.js';
import { checkSftp, noSftpServer, showHostKey } from '../src/doctor/sftp.js';
import { checkUsers } from '../src/doctor/users.js';
import { checkVerdicts } from '../src/doctor/verdicts.js';
import { type Check, examineAll } from '../src/examination/check.js';
import { type Finding, renderCount, renderFinding } from '../src/examination/finding.js';
import { checkSource, warnOfSamePath } from '../src/examination/source-check.js';
import { lookForUnconfirmed, warnOfUnconfirmed } from '../src/examination/unconfirmed-check.js';
import { placeOf as showAddress } from '../src/ledger/postgres/database.js';
import type { ReadOnlyNoticeLedger } from '../src/notifications/notice-store.js';
import { listEveryRun } from '../src/review/every-run.js';
import type { ReadOnlyLedger } from '../src/review/ledger.js';
import { findLostKeys } from '../src/review/stored/lost-keys.js';
import { findOldestNames } from '../src/review/stored/oldest-names.js';
import { listDueToRemove } from '../src/review/stored/remove-sent.js';
import { findDueDays } from '../src/review/stored/retention.js';
import { presentHostKey } from '../src/sftp/server.js';
import { kindOf } from '../src/sources/registry.js';
import { findUsersFile } from './access.js';
import { clock } from './clock.js';
import { readDayIn } from './days.js';
import { findLedger, lookInto, openArchive, openKeys, openSftp, openSpool } from './parts.js';
import { composeSource, findBucket, openSourceParts } from './sources.js';
import type { Terminal } from './terminal.js';
import { findMailPlace, openMailbox } from './verdict-mails.js';

const { platform } = process;
/** How long Redis may take to respond. */
const redisAnswerMs = 5_000;
const serviceSeconds = longestProbeSeconds + 5;
/** Since the check of the source began, which must not fail because a second reading is slow. */
const unconfirmedMs = 7_000;
const sftpConnectMs = 10_000;
const sftpNoProgressMs = 5_000;

/** Tries everything that a run needs, and says what to fix. Returns the exit code: 2 if something is wrong. */
export async function examine(
  options: { readonly day?: string },
  globals: { readonly config: string },
  terminal: Terminal,
): Promise<number> {
  const { env, onAbandoned } = terminal.io;
  const file = terminal.locate(globals.config);
  const tell = (finding: Finding) => terminal.say(renderFinding(finding));
  const { config, findings, wrongSettings } = await readConfiguration(file, () => loadConfig({ file, env }));
  for (const finding of findings) tell(finding);

  const groups = config
    ? listChecks(config, file, options.day, terminal)
    : await listChecksWithoutConfiguration(file, env, wrongSettings);
  const { signal } = terminal;
  const all = [...findings, ...(await examineAll(groups, { signal, tell, onAbandoned }))];
  const isWrong = all.some(({ verdict }) => verdict === 'wrong');
  terminal.say(renderCount(all));
  terminal.report({ ok: !isWrong, findings: all });
  return isWrong ? exitCode.usage : exitCode.done;
}

function listChecks(
  config: Config,
  file: string,
  day: string | undefined,
  { sourceMessages, io }: Terminal,
): Check[][] {
  const { timezone, service, maxRejectedShare, emptyDay, ledger, queue, archive, deadline } = config;
  const { sftp, resultPattern } = config.file;
  const keys = openKeys(config);
  const runsDay = dayOfRun(new Date(clock()), timezone);
  const askService = createServiceProbe(config, clock);
  return [
    // Before the ledger is opened, which restricts the mode of its file.
    [
      fileModesCheck(file, config),
      { part: 'configuration', seconds: 5, look: async () => checkServer(config) },
      { part: 'users', seconds: 5, look: () => checkUsers(config.server, findUsersFile(config)) },
    ],
    // The ledger comes in a later group, so that no other check waits for it.
    [
      {
        part: 'clock',
        seconds: serviceSeconds,
        look: async (signal) => [
          ...(await checkClock({ clock, zone: timezone, askService: () => askService(signal) })),
          checkDeadline(deadline, timezone, clock()),
        ],
      },
      {
        part: 'source',
        seconds: 10,
        look: async (signal) => {
          const tried = readDayIn(timezone, day);
          const enough = AbortSignal.timeout(unconfirmedMs);
          const parts = {
            ...(await composeSource(config, sourceMessages)),
            day: tried,
            maxRejectedShare,
            emptyDay,
          };
          const found = await checkSource(parts, signal);
          const isRead = found.every(({ verdict }) => verdict !== 'wrong');
          const looking = {
            settings: config.source,
            parts: openSourceParts(config, sourceMessages),
            day: tried,
            signal,
            enough,
          };
          return [
            ...found,
            ...(isRead ? warnOfUnconfirmed(await lookForUnconfirmed(looking)) : []),
            ...warnOfSamePath(config.source),
            ...warnOfSourceWire(config),
          ];
        },
      },
      {
        part: 'service',
        seconds: serviceSeconds,
        look: (signal) => checkService({ baseUrl: service.baseUrl, probe: () => askService(signal) }),
      },
      {
        part: 'sftp',
        seconds: 25,
        look: async (signal) => {
          if (sftp === undefined) return [noSftpServer];
          const options = { connectTimeoutMs: sftpConnectMs, noProgressMs: sftpNoProgressMs };
          return checkSftp(
            {
              open: (onHostKey) => openSftp(config, { ...options, onHostKey }),
              address: `${sftp.username}@${sftp.host}:${sftp.port}`,
              day: runsDay,
              resultPattern,
              temporaryFolder: io.temporaryFolder,
            },
            signal,
          );
        },
      },
    ],
    [
      {
        part: 'ledger',
        seconds: 20,
        look: async () => [
          ...(await checkLedger({
            place: placeOf(ledger),
            open: () => findLedger(config, { waits: false, mustTakeWrites: true }),
          })),
          ...warnOfLedgerWire(config),
        ],
      },
    ],
    keys ? [{ part: 'keys', seconds: 20, look: () => checkKeys(keys, config, platform) }] : [],
    queue.kind === 'redis'
      ? [
          {
            part: 'queue',
            seconds: 10,
            look: (signal) => checkQueue({ ...queue, answerMs: redisAnswerMs }, signal),
          },
          { part: 'archive', seconds: 5, look: async () => checkSharedPlaces(config) },
        ]
      : [],
    [
      ...(archive.kind === 's3'
        ? [
            {
              part: 'archive' as const,
              seconds: 20,
              look: () => checkKeptBucket({ root: archive, open: findBucket(config, archive.bucket) }),
            },
          ]
        : []),
      ...listKeptFolders(config).map(
        (folder): Check => ({
          part: folder.part,
          seconds: 5,
          look: () => checkKeptFolder(folder, platform),
        }),
      ),
      {
        part: 'verdicts',
        seconds: 40,
        look: async (signal) => [
          ...checkVerdicts(config.delivery, findMailPlace(config) !== undefined),
          ...(await checkMailbox(() => openMailbox(config), signal)),
          ...checkSenders(config),
        ],
      },
      {
        part: 'ledger',
        seconds: 30,
        look: lookInto(config, async (found) => {
          try {
            const kept = { ledger: found, archive: openArchive(config), spool: openSpool(config) };
            return [
              ...checkOldestNames(await findOldestNames(kept, { now: clock(), timezone }), config),
              ...(keys ? warnOfLostKeys(await findLostKeys(found, keys.listDays())) : []),
              ...(await examineRemoval(config, found)),
            ];
          } catch (error) {
            return [unknownNames(error)];
          }
        }),
      },
      {
        part: 'verdicts',
        seconds: 20,
        async look() {
          const { canary } = config;
          return canary ? lookInto(config, (found) => checkCanary(canary, found, clock()))() : [];
        },
      },
      {
        part: 'notify',
        seconds: 5,
        look: async () => [...checkChannels(config.notify), ...(await lookInto(config, checkWaiting)())],
      },
      { part: 'disk', seconds: 5, look: () => checkDisk(listWrittenPlaces(config)) },
    ],
  ];
}

async function checkWaiting({ notices }: ReadOnlyNoticeLedger): Promise<readonly Finding[]> {
  return checkMessages(await notices.countMessages(), clock());
}

function warnOfSourceWire({ source }: Config): readonly Finding[] {
  const database = kindOf(source).findDatabase?.(source);
  return database === undefined ? [] : warnAboutPlainConnection({ part: 'source', ...database });
}

function warnOfLedgerWire({ ledger }: Config): readonly Finding[] {
  if (!('url' in ledger)) return [];
  return warnAboutPlainConnection({ part: 'ledger', setting: 'ledger', url: ledger.url });
}

function placeOf(ledger: Config['ledger']): LedgerPlace {
  switch (ledger.kind) {
    case 'sqlite':
      return { kind: 'file', path: ledger.path };
    case 'postgres':
      return { kind: 'server', address: showAddress(ledger.url) };
  }
}

/** The few checks that are possible while the configuration is invalid. */
async function listChecksWithoutConfiguration(
  file: string,
  env: NodeJS.ProcessEnv,
  wrongSettings: readonly string[],
): Promise<Check[][]> {
  const servers = await findUnpinnedServers(file, env, wrongSettings);
  const showKey = (server: UnpinnedServer): Check => ({
    part: server.part,
    seconds: 15,
    look: (signal) =>
      showHostKey(server, () => presentHostKey({ ...server, timeoutMs: sftpConnectMs }, signal)),
  });
  return [[fileModesCheck(file), ...servers.map(showKey)]];
}

function fileModesCheck(file: string, config?: Config): Check {
  return {
    part: 'file-modes',
    seconds: 5,
    look: () => checkFileModes(listClosedFiles(file, config), platform),
  };
}

/** What `file.removeAfterDays` would remove now. */
async function examineRemoval(
  { file: { removeAfterDays, sftp }, timezone }: Config,
  ledger: ReadOnlyLedger,
): Promise<readonly Finding[]> {
  if (removeAfterDays === undefined || sftp === undefined) return [];
  const periods = { guestNameDays: removeAfterDays, recordDays: removeAfterDays };
  const { namesBefore } = findDueDays(periods, { now: clock(), timezone });
  const runs = await listEveryRun(ledger);
  return checkRemoval(
    { runs, due: listDueToRemove(runs, namesBefore, { timezone, clock }) },
    removeAfterDays,
  );
}
