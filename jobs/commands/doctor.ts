import { businessDayAt } from '../../src/booking/business-day.js';
import { checkArchive } from '../../src/checks/doctor/archive.js';
import { checkArchiveBucket } from '../../src/checks/doctor/archive-bucket.js';
import { checkCanary } from '../../src/checks/doctor/canary.js';
import { checkChannels, checkMessages } from '../../src/checks/doctor/channels.js';
import { findUnpinnedServers, readConfiguration } from '../../src/checks/doctor/configuration.js';
import { checkDeadline } from '../../src/checks/doctor/deadline.js';
import {
  checkFileModes,
  listClosedFiles,
  listSourceFiles,
  listStoreFolders,
  listWrittenFolders,
} from '../../src/checks/doctor/file-modes.js';
import { checkDisk, checkNewHotels, checkStoreFolder } from '../../src/checks/doctor/folders.js';
import { checkKeys, checkLostKeys, findEmptyFolder } from '../../src/checks/doctor/keys.js';
import { checkLedger } from '../../src/checks/doctor/ledger.js';
import { checkMailbox, checkSenders } from '../../src/checks/doctor/mailbox.js';
import { checkOldestNames, unknownNames } from '../../src/checks/doctor/oldest-names.js';
import { checkQueue } from '../../src/checks/doctor/queue.js';
import { checkRemoval } from '../../src/checks/doctor/removal.js';
import {
  checkSharedFolders,
  warnOfLedgerWire,
  warnOfSourceWire,
} from '../../src/checks/doctor/risky-settings.js';
import { checkPublicUrl, checkServer } from '../../src/checks/doctor/server.js';
import {
  checkClock,
  checkService,
  createServiceProbe,
  dayOfRun,
  longestProbeSeconds,
} from '../../src/checks/doctor/service.js';
import { checkSftp, noSftpServer, showHostKey } from '../../src/checks/doctor/sftp.js';
import { checkUsers } from '../../src/checks/doctor/users.js';
import { checkVerdicts, countNights } from '../../src/checks/doctor/verdicts.js';
import { type Check, examineAll } from '../../src/checks/examination/check.js';
import { checkEncoding } from '../../src/checks/examination/encoding-check.js';
import { type Finding, type Part, renderCount, renderFinding } from '../../src/checks/examination/finding.js';
import { checkSource, warnOfSamePath } from '../../src/checks/examination/source-check.js';
import {
  lookForUnconfirmed,
  takeSample,
  warnOfUnconfirmed,
} from '../../src/checks/examination/unconfirmed-check.js';
import { type Config, loadConfig } from '../../src/config/load.js';
import type { ReadOnlyLedger } from '../../src/ledger/ledger.js';
import { findOldestNames } from '../../src/review/stored/retention.js';
import { createTransport, type HttpResult } from '../../src/transports/http/transport.js';
import { presentHostKey } from '../../src/transports/sftp/server.js';
import { clock } from '../clock.js';
import { type Bare, bareCommand, optionalDay, readDayIn } from '../command.js';
import { exitCode } from '../exit-code.js';
import {
  findLedger,
  findUsersFile,
  lookInto,
  openArchive,
  openKeys,
  openSftp,
  openSpool,
  showLedgerLocation,
} from '../parts.js';
import { composeSource, findBucket, openSourceParts } from '../sources.js';
import { findMailbox, openMailbox } from '../verdict-mails.js';

const { platform } = process;
/** How long Redis may take to respond. */
const redisAnswerMs = 5_000;
const serviceSeconds = longestProbeSeconds + 5;
/** Since the check of the source began, which must not fail because a second reading is slow. */
const unconfirmedMs = 7_000;
const publicUrlSeconds = 5;
const sftpConnectMs = 10_000;
const sftpNoProgressMs = 5_000;

/** Tries everything that a run needs, and says what to fix. */
export default bareCommand({
  place: ['common', 2],
  summary: 'check configuration, source, service, SFTP and disk, and say what to fix',
  day: optionalDay('whose bookings are checked; default: yesterday'),
  examples: `
Nothing is sent for review: the service is called with an empty list of
bookings. On the SFTP server a small file is written and then removed.

Examples:
  hotel-review doctor                    with yesterday's bookings
  hotel-review doctor 2026-11-20         with those of that day
  hotel-review doctor --json             {"ok": …, "findings": […]}

Exit code 2 when something is wrong.`,

  async run(bare, { day }) {
    const { signal, io } = bare;
    const file = bare.locate(bare.globals.config);
    const tell = (finding: Finding) => bare.say(renderFinding(finding));
    const { config, findings, wrongSettings } = await readConfiguration(file, () =>
      loadConfig({ file, env: io.env, script: io.script }),
    );
    for (const finding of findings) tell(finding);

    const sourceFiles = config ? listSourceFiles(config, readDayIn(config.timezone, day)) : [];
    const fileModes = check('file-modes', 5, () =>
      checkFileModes(listClosedFiles(file, config), platform, sourceFiles),
    );
    const groups = config
      ? [[fileModes, ...checkAccess(config)], ...listChecks(config, day, bare)]
      : [[fileModes, ...(await checkUnpinnedServers(file, io.env, wrongSettings))]];
    const options = { signal, tell, onAbandoned: io.onAbandoned };
    const all = [...findings, ...(await examineAll(groups, options))];
    const isWrong = all.some(({ verdict }) => verdict === 'wrong');
    bare.say(renderCount(all));
    bare.report({ ok: !isWrong, findings: all });
    return isWrong ? exitCode.usage : exitCode.done;
  },
});

function check(part: Part, seconds: number, look: Check['look']): Check {
  return { part, seconds, look };
}

/** The few checks of servers that are possible while the configuration is invalid. */
async function checkUnpinnedServers(
  file: string,
  env: NodeJS.ProcessEnv,
  wrongSettings: readonly string[],
): Promise<Check[]> {
  const servers = await findUnpinnedServers(file, env, wrongSettings);
  return servers.map((server) =>
    check(server.part, 15, (signal) =>
      showHostKey(server, () => presentHostKey({ ...server, timeoutMs: sftpConnectMs }, signal)),
    ),
  );
}

function checkAccess(config: Config): Check[] {
  return [
    check('configuration', 5, async () => checkServer(config)),
    check('users', 5, () => checkUsers(config.server, findUsersFile(config))),
  ];
}

/** Those that may open the ledger come after the check of the files' modes: opening it restricts the mode of its file. */
function listChecks(config: Config, day: string | undefined, bare: Bare): Check[][] {
  return [
    // The ledger comes in a later group, so that no other check waits for it.
    checkOutside(config, day, bare),
    [
      check('ledger', 20, async () => [
        ...(await checkLedger({
          location: await showLedgerLocation(config),
          isFile: config.ledger.kind === 'sqlite',
          open: () => findLedger(config, { waits: false, mustTakeWrites: true }),
        })),
        ...warnOfLedgerWire(config),
      ]),
    ],
    checkShared(config),
    checkStores(config),
  ];
}

/** The source, the service, and the server of files. */
function checkOutside(config: Config, day: string | undefined, bare: Bare): Check[] {
  const { timezone, service, deadline } = config;
  // Where people sign in at the proxy, it answers by itself.
  const { publicUrl, signIn } = config.server;
  const askService = createServiceProbe(config, clock);
  return [
    check('clock', serviceSeconds, async (signal) => [
      ...(await checkClock({ clock, zone: timezone, askService: () => askService(signal) })),
      checkDeadline(deadline, timezone, clock()),
    ]),
    check('source', 10, (signal) => readSource(config, day, bare, signal)),
    check('service', serviceSeconds, (signal) =>
      checkService({ baseUrl: service.baseUrl, probe: () => askService(signal) }),
    ),
    check('sftp', 25, (signal) => tryServer(config, bare, signal)),
    ...(signIn === undefined
      ? [
          check('configuration', publicUrlSeconds + 5, (signal) =>
            checkPublicUrl(publicUrl, (origin, path) => askAt(config, { origin, path }, signal)),
          ),
        ]
      : []),
  ];
}

/** What a program gets at this address. */
async function askAt(
  { proxy }: Config,
  { origin, path }: { readonly origin: string; readonly path: string },
  signal: AbortSignal,
): Promise<HttpResult> {
  const limits = { timeoutMs: publicUrlSeconds * 1_000, connectTimeoutMs: publicUrlSeconds * 1_000 };
  const transport = createTransport({ origin, connections: 1, maxAnswerBytes: 65_536, ...limits, proxy });
  try {
    const headers = ['accept', 'application/json', 'user-agent', 'booked-hotel-review'];
    return await transport.call({ method: 'GET', path, headers, signal });
  } finally {
    await transport.close();
  }
}

async function readSource(
  config: Config,
  written: string | undefined,
  { sourceMessages }: Bare,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { source, timezone, maxRejectedShare, emptyDay } = config;
  const day = readDayIn(timezone, written);
  const enough = AbortSignal.timeout(unconfirmedMs);
  const composed = await composeSource(config, sourceMessages);
  const found = await checkSource({ ...composed, day, maxRejectedShare, emptyDay }, signal);
  const parts = openSourceParts(config, sourceMessages);
  const isRead = found.every(({ verdict }) => verdict !== 'wrong');
  const hasEncoding = 'encoding' in source;
  const sample =
    isRead || hasEncoding ? await takeSample({ settings: source, parts, day, signal, enough }) : undefined;
  return [
    ...found,
    ...(isRead ? warnOfUnconfirmed(lookForUnconfirmed(sample, source)) : []),
    // What fails to be UTF-8 is shown in other encodings.
    ...(sample && hasEncoding && (isRead || source.encoding === 'utf-8')
      ? checkEncoding(sample, source.encoding, composed.source.locate(day))
      : []),
    ...warnOfSamePath(source),
    ...warnOfSourceWire(config),
  ];
}

async function tryServer(config: Config, { io }: Bare, signal: AbortSignal): Promise<readonly Finding[]> {
  const { sftp, resultPattern } = config.file;
  if (sftp === undefined) return [noSftpServer];
  const limits = { connectTimeoutMs: sftpConnectMs, noProgressMs: sftpNoProgressMs };
  return checkSftp(
    {
      open: (onHostKey) => openSftp(config, { ...limits, onHostKey }),
      address: `${sftp.username}@${sftp.host}:${sftp.port}`,
      day: dayOfRun(new Date(clock()), config.timezone),
      resultPattern,
      temporaryFolder: io.temporaryFolder,
    },
    signal,
  );
}

/** What workers share. */
function checkShared(config: Config): Check[] {
  const { queue } = config;
  const keys = openKeys(config);
  return [
    ...(keys ? [check('keys', 20, () => checkKeys(keys, config, platform))] : []),
    ...(queue.kind === 'redis'
      ? [
          check('queue', 10, async (signal) => {
            const { findings } = await checkQueue({ ...queue, answerMs: redisAnswerMs }, signal);
            return findings;
          }),
          check('archive', 5, async () => checkSharedFolders(config)),
        ]
      : []),
  ];
}

/** What is kept, and what is still to be read or sent. */
function checkStores(config: Config): Check[] {
  const {
    archive,
    canary,
    mappings: { newHotels },
  } = config;
  const look = (found: (ledger: ReadOnlyLedger) => Promise<readonly Finding[]>) => lookInto(config, found);
  return [
    ...(archive.kind === 's3'
      ? [
          check('archive', 20, () =>
            checkArchiveBucket({ root: archive, open: findBucket(config, archive.bucket) }),
          ),
        ]
      : []),
    ...listStoreFolders(config).map((folder) =>
      check(folder.part, 5, () => checkStoreFolder(folder, platform)),
    ),
    ...(newHotels === undefined ? [] : [check('mappings', 5, () => checkNewHotels(newHotels))]),
    check('archive', 40, () => lookAtArchive(config)),
    check('verdicts', 40, async (signal) => [
      ...(findMailbox(config) === undefined ? await lookForUnreadVerdicts(config) : []),
      ...(await checkMailbox(() => openMailbox(config), signal)),
      ...checkSenders(config),
    ]),
    check(
      'ledger',
      30,
      look((ledger) => lookForNames(config, ledger)),
    ),
    check('verdicts', 20, canary ? look((ledger) => checkCanary(canary, ledger, clock())) : async () => []),
    check('notify', 5, async () => [
      ...checkChannels(config.notify),
      ...(await look(({ notices }) => checkMessages(notices, config.notify, clock()))()),
    ]),
    check('disk', 5, () => checkDisk(listWrittenFolders(config))),
  ];
}

/** How many bookings get their verdicts by e-mail, which nobody reads. */
async function lookForUnreadVerdicts(config: Config): Promise<readonly Finding[]> {
  const { timezone, delivery } = config;
  const today = businessDayAt(new Date(clock()), timezone);
  const [nights] = await lookInto(config, async (ledger) => [await countNights(ledger, today)])();
  return checkVerdicts(delivery, nights);
}

/** Beside the ledger, if there is one that can be opened: another check says why it can't be. */
async function lookAtArchive(config: Config): Promise<readonly Finding[]> {
  const ledger = await findLedger(config, { waits: false }).catch(() => 'unknown' as const);
  if (ledger === 'unknown') return [];
  try {
    return await checkArchive({
      archive: openArchive(config),
      ledger,
      location: await showLedgerLocation(config),
    });
  } finally {
    await ledger?.close();
  }
}

/** How old guests' names are, whether all of them can be read, and which files are due to be removed. */
async function lookForNames(config: Config, ledger: ReadOnlyLedger): Promise<readonly Finding[]> {
  const { timezone } = config;
  const keys = openKeys(config);
  try {
    const stores = { ledger, archive: openArchive(config), spool: openSpool(config) };
    return [
      ...checkOldestNames(await findOldestNames(stores, { now: clock(), timezone }), config),
      ...(keys ? await checkLostKeys(ledger, keys.listDays()) : []),
      ...(await checkRemoval(config, ledger, clock)),
    ];
  } catch (error) {
    return [(keys && findEmptyFolder(error)) ?? unknownNames(error)];
  }
}
