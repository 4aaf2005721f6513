import { needsPerson } from '../src/base/peer-patience.js';
import { UsageError } from '../src/base/safe-error.js';
import type { Config } from '../src/config/load.js';
import type { Ledger, ReadOnlyLedger } from '../src/ledger/ledger.js';
import { fileExists } from '../src/ledger/sqlite/ledger-file.js';
import { createSqliteLedger, createSqliteReader } from '../src/ledger/sqlite/sqlite-ledger.js';
import { archiveDay } from '../src/mappings/export/fetch-export.js';
import { ArchiveAwayError, findMisfit } from '../src/review/archive-fit.js';
import { dayOfRunId } from '../src/review/day/open-run.js';
import { manifestName } from '../src/review/file/archive-run.js';
import { createServiceClient, type ServiceClient } from '../src/service/client.js';
import { createMappingService } from '../src/service/mapping-service.js';
import type { MappingService } from '../src/service/operations.js';
import { openUsersFile, type UsersFile } from '../src/storage/access/users-file.js';
import {
  type Archive,
  createDirectoryArchive,
  encryptArchive,
  hashAccount,
  reportsFolder,
} from '../src/storage/archive.js';
import { createKeyFolder, type KeyFolder } from '../src/storage/day-keys.js';
import { createS3Archive } from '../src/storage/s3-archive.js';
import { createDirectorySpool, type Spool } from '../src/storage/spool.js';
import type { PeerClock } from '../src/transports/http/peer-clocks.js';
import {
  type ClosableSftpServer,
  createSftpServer,
  type SftpServerOptions,
} from '../src/transports/sftp/server.js';
import { clock, now, random } from './clock.js';
import { findBucket, openRetryPolicy } from './sources.js';

/** One for each configuration, so that each key is read once. */
const opened = new WeakMap<Config, KeyFolder>();

/** The configured keys; undefined if nothing is encrypted. Nothing is created or read before a key is needed. */
export function openKeys(config: Config): KeyFolder | undefined {
  if (config.keys === undefined) return undefined;
  const folder = opened.get(config) ?? createKeyFolder(config.keys);
  opened.set(config, folder);
  return folder;
}

/**
 * Opens the configured ledger, and creates it where there is none. A database's client is loaded only if needed.
 *
 * @param how `adopts`: creates it even where the archive knows another one
 *   `worker`: the process, as attempts name it; `peerClock`: is told what a database's answers say about its clock; `warn`: is told why a database refuses a process that could use it before
 */
export async function openLedger(
  config: Config,
  how: {
    readonly adopts?: boolean;
    readonly worker?: string;
    readonly peerClock?: PeerClock;
    readonly warn?: (message: string) => void;
  } = {},
): Promise<Ledger> {
  const { ledger, workers, hashKey } = config;
  const common = {
    ...{ leaseMs: workers.leaseSeconds * 1000, keys: openKeys(config), hashKey },
    worker: how.worker,
  };
  switch (ledger.kind) {
    case 'sqlite':
      if (!how.adopts && !fileExists(ledger.path)) await refuseSecondLedger(config);
      return createSqliteLedger({ ...common, path: ledger.path, clock });
    case 'postgres': {
      const { createPostgresLedger } = await import('../src/ledger/postgres/postgres-ledger.js');
      return createPostgresLedger({
        ...{ ...common, url: ledger.url, clock, peerClock: how.peerClock },
        connections: workers.connections,
        onRefused: ({ message }) => how.warn?.(`${message}; it is tried again for a while`),
        ...(!how.adopts && { mayCreate: () => refuseSecondLedger(config) }),
      });
    }
  }
}

/**
 * A ledger is created only where the archive knows none: the days that another one has sent would be sent again. Nothing but a run by
 * file needs the archive, so one that can't be asked prevents nothing else.
 */
async function refuseSecondLedger(config: Config): Promise<void> {
  try {
    const misfit = await findMisfitOf(config, openArchive(config), undefined);
    if (misfit) throw misfit;
  } catch (error) {
    if (!(error instanceof ArchiveAwayError)) throw error;
    refuseArchive(error, config);
    if (config.delivery === 'file') throw error;
  }
}

/** What is wrong with a ledger beside that archive; undefined if nothing is. @throws ArchiveAwayError */
export async function findMisfitOf(config: Config, archive: Archive, ledger: ReadOnlyLedger | undefined) {
  return findMisfit({ archive, ledger, location: await showLedgerLocation(config) });
}

/** By file, nothing works with an archive that refuses us. @throws UsageError if only a person can put that right */
export function refuseArchive({ fault, message }: ArchiveAwayError, { delivery }: Config): void {
  if (delivery === 'file' && needsPerson(fault)) throw new UsageError(message);
}

/** How to open a ledger for reading. */
export interface LedgerReading {
  /** False to fail at once when its server doesn't answer. */
  readonly waits?: boolean;
  /** True to fail where a run could not write, as on a standby. */
  readonly mustTakeWrites?: boolean;
}

/** Opens the ledger for reading; undefined if there is none. Creates nothing. */
export async function findLedger(
  config: Config,
  { waits = true, mustTakeWrites = false }: LedgerReading = {},
): Promise<ReadOnlyLedger | undefined> {
  const { ledger, workers, hashKey } = config;
  const keys = openKeys(config);
  switch (ledger.kind) {
    case 'sqlite':
      return fileExists(ledger.path)
        ? createSqliteReader({ path: ledger.path, clock, keys, hashKey })
        : undefined;
    case 'postgres': {
      const { findPostgresLedger } = await import('../src/ledger/postgres/postgres-ledger.js');
      const { connections } = workers;
      return findPostgresLedger({ url: ledger.url, connections, waits, mustTakeWrites, keys, hashKey });
    }
  }
}

/** Its path or address, without a password. */
export async function showLedgerLocation({ ledger }: Config): Promise<string> {
  switch (ledger.kind) {
    case 'sqlite':
      return ledger.path;
    case 'postgres':
      return (await import('../src/ledger/postgres/database.js')).locationOf(ledger.url);
  }
}

export function openSpool(config: Config): Spool {
  const keys = openKeys(config);
  return createDirectorySpool({
    root: config.file.spool,
    encryption: keys && { keys, dayOf: dayOfRunId },
  });
}

/** @param peerClock is told what an S3 server's answers say about its clock */
export function openArchive(config: Config, peerClock?: PeerClock): Archive {
  const { archive: kept, file, service } = config;
  const account = hashAccount(service.accountId);
  const archive =
    kept.kind === 'directory'
      ? createDirectoryArchive({ root: kept.path, account })
      : createS3Archive({
          ...{ root: kept, account, temporaryFolder: file.spool },
          open: findBucket(config, kept.bucket, peerClock),
        });
  const keys = openKeys(config);
  return keys ? encryptArchive(archive, keys, mayHoldNames) : archive;
}

/** Exports and pages of reports hold no bookings, and manifests are kept for longer than names. */
function mayHoldNames(day: string, name: string): boolean {
  return day !== archiveDay && day !== reportsFolder && name !== manifestName;
}

/** @param how overrides of the configured options */
export function openSftp(
  { file: { sftp } }: Config,
  how: Partial<SftpServerOptions> = {},
): ClosableSftpServer {
  if (!sftp)
    throw new UsageError('delivery by file needs an SFTP server: set file.sftp (host, username, hostKey, …)');
  const { host, port, root, hostKey, ...login } = sftp;
  return createSftpServer({ host, port, root, ...login, hostKeys: [hostKey].flat(), ...how });
}

const connectTimeoutMs = 10_000;

/** The client for reviews, with the configured limits; it never retries, because the step runner does. */
export function openReviewService(config: Config, peerClock?: PeerClock): ServiceClient {
  const { service, proxy, body, file } = config;
  return createServiceClient({
    ...service,
    proxy,
    otherSecrets: file.sftp?.password === undefined ? [] : [file.sftp.password],
    connections: body.concurrency,
    timeoutMs: body.timeoutSeconds * 1000,
    connectTimeoutMs,
    clock: now,
    peerClock,
  });
}

/** The service's other operations, with the configured retries. */
export function openMappingService(config: Config): MappingService {
  const { service, proxy } = config;
  return createMappingService({
    ...service,
    proxy,
    retry: openRetryPolicy(config),
    clock: now,
    random,
  });
}

/** Undefined if no users' file is configured. */
export function findUsersFile({ server: { users } }: Config): UsersFile | undefined {
  return users === undefined ? undefined : openUsersFile(users);
}
