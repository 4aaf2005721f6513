import { type Archive, reportsFolder, type StoringArchive } from '../src/archive/archive.js';
import { createDirectoryArchive } from '../src/archive/directory.js';
import { encryptArchive } from '../src/archive/encrypted.js';
import { createS3Archive } from '../src/archive/s3.js';
import type { Config } from '../src/config/load.js';
import type { ReviewService } from '../src/mapping-service/client.js';
import { archiveDay } from '../src/mappings/export/fetch-export.js';
import { createBodyDelivery } from '../src/review/body/body-delivery.js';
import { dayOfRunId } from '../src/review/day/open-run.js';
import type { Delivery } from '../src/review/delivery.js';
import type { Notify } from '../src/review/events.js';
import { createFileDelivery } from '../src/review/file/file-delivery.js';
import { manifestName } from '../src/review/file/manifest.js';
import type { Ledger } from '../src/review/ledger.js';
import type { DeliveryKind } from '../src/review/run.js';
import { toSftpLogin } from '../src/settings/sftp-account.js';
import { defaultLimits } from '../src/sftp/limits.js';
import { type ClosableSftpServer, createSftpServer, type SftpServerOptions } from '../src/sftp/server.js';
import type { SftpServer } from '../src/sftp/sftp.js';
import { encryptSpool } from '../src/spool/encrypted.js';
import { createDirectorySpool, type Spool } from '../src/spool/spool.js';
import { UsageError } from '../src/text/usage-error.js';
import { findBucket } from './buckets.js';
import { openKeys } from './keys.js';
import { version } from './version.js';

interface DeliveryParts {
  readonly ledger: Ledger;
  readonly service: ReviewService;
  /** Called by a delivery that needs the server. */
  readonly findSftp: () => SftpServer;
  readonly notify: Notify;
  readonly clock: () => number;
}

/** The delivery of that kind, as configured. A resumed run keeps the kind it was started with. */
export function createDelivery(kind: DeliveryKind, config: Config, parts: DeliveryParts): Delivery {
  const { service } = parts;
  const { masterIdName } = config.service;
  const body = createBodyDelivery({
    service,
    masterIdName,
    batchSize: config.body.batchSize,
    names: config.guestNames,
    findCanary: parts.ledger.findCanary,
  });
  switch (kind) {
    case 'body':
      return body;
    case 'file':
      return createFileDeliveryOf(config, parts, body);
  }
}

function createFileDeliveryOf(
  config: Config,
  { findSftp, ...parts }: DeliveryParts,
  body: Delivery,
): Delivery {
  const { file, service } = config;
  return createFileDelivery({
    ...parts,
    body,
    timezone: config.timezone,
    incomplete: file.incomplete,
    masterIdColumn: service.masterIdColumn,
    pathPrefix: file.ftpFilePathPrefix,
    resultPattern: file.resultPattern,
    resultNames: file.resultNames,
    resultColumn: file.resultColumn,
    resultValues: file.resultValues,
    maxUnansweredShare: config.maxUnansweredShare,
    resultPollMs: file.resultPollSeconds * 1000,
    resultQuietMs: file.resultQuietSeconds * 1000,
    resultTimeoutMs: file.resultTimeoutMinutes * 60_000,
    sftp: findSftp(),
    stepMs,
    spool: openSpool(config),
    archive: openArchive(config),
    tool: `booked-hotel-review ${version}`,
  });
}

/** A step may download an earlier run's file and its result, and upload a file. */
const stepMs = 3 * defaultLimits.transferMs;

export function openSpool(config: Config): Spool {
  const spool = createDirectorySpool({ root: config.file.spool });
  const keys = openKeys(config);
  return keys ? encryptSpool(spool, { keys, dayOf: dayOfRunId }) : spool;
}

export function openArchive(config: Config): Archive {
  const archive = openStoredArchive(config);
  const keys = openKeys(config);
  return keys ? encryptArchive(archive, { keys, encrypts: mayHoldNames }) : archive;
}

/** Exports and pages of reports hold no bookings, and manifests are kept for longer than names. */
function mayHoldNames(day: string, name: string): boolean {
  return day !== archiveDay && day !== reportsFolder && name !== manifestName;
}

function openStoredArchive(config: Config): StoringArchive {
  const { archive, file } = config;
  switch (archive.kind) {
    case 'directory':
      return createDirectoryArchive({ root: archive.path });
    case 's3':
      return createS3Archive({
        root: archive,
        open: findBucket(config, archive.bucket),
        temporaryFolder: file.spool,
      });
  }
}

/** @param how overrides of the configured options */
export function openSftp(
  { file: { sftp } }: Config,
  how: Partial<SftpServerOptions> = {},
): ClosableSftpServer {
  if (!sftp)
    throw new UsageError('delivery by file needs an SFTP server: set file.sftp (host, username, hostKey, …)');
  const { host, port, root, ...account } = sftp;
  return createSftpServer({ host, port, root, ...toSftpLogin(account), ...how });
}
