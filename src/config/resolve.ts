import { resolve } from 'node:path';
import { completePostgresUrl } from '../base/connection-security.js';
import { resolveKeyFile } from '../base/sftp-account.js';
import { type ChannelSettings, resolveChannels } from '../notify/channels/channel-settings.js';
import { defaultStatusCodes, type StatusCodeTable } from '../service/verdict.js';
import { kindOf } from '../sources/registry.js';
import type { ProxyRules } from '../transports/http/connection-rules.js';
import type { S3Account } from '../transports/s3/bucket.js';
import {
  type ArchiveLocation,
  type LedgerLocation,
  type QueueLocation,
  readArchiveLocation,
  readLedgerLocation,
  readQueueLocation,
  toAddress,
  type WrittenAddress,
} from './locations.js';
import type { Settings } from './schema.js';

/** The configuration as the parts use it: with all defaults, every path absolute. */
export interface Config
  extends Omit<Settings, 'service' | 'body' | 'ledger' | 'queue' | 'archive' | 'notify'> {
  readonly service: Omit<Settings['service'], 'statusCodes'> & { readonly statusCodes: StatusCodeTable };
  readonly body: Settings['body'] & { readonly timeoutSeconds: number };
  readonly ledger: LedgerLocation;
  readonly queue: QueueLocation;
  readonly archive: ArchiveLocation;
  readonly notify: readonly ChannelSettings[];
  /** The configuration file's folder, absolute. */
  readonly folder: string;
  /** How https connections leave this machine. */
  readonly proxy: ProxyRules;
  /** How buckets are reached. */
  readonly s3: S3Account;
  /** The settings whose secrets are in the file itself, as paths. `doctor` warns about them. */
  readonly literalSecrets: readonly string[];
}

/** @param folder the configuration file's, absolute: the base of relative paths */
export function resolveConfig(
  settings: Settings,
  { folder, ...facts }: { readonly folder: string } & Pick<Config, 'proxy' | 's3' | 'literalSecrets'>,
): Config {
  const { service, source, body, file, keys } = settings;
  return {
    ...settings,
    service: {
      ...service,
      statusCodes: { ...defaultStatusCodes, ...service.statusCodes },
    },
    source: kindOf(source).resolve(source, folder),
    body: { ...body, timeoutSeconds: body.timeoutSeconds ?? service.timeoutSeconds },
    file: {
      ...file,
      spool: resolve(folder, file.spool),
      ...(file.sftp && { sftp: resolveKeyFile(file.sftp, folder) }),
    },
    ledger: resolveLedger(toAddress(settings.ledger), folder),
    queue: resolveQueue(toAddress(settings.queue), folder),
    notify: resolveChannels(settings.notify),
    server: resolveServer(settings.server, folder),
    verdicts: resolveVerdicts(settings.verdicts, folder),
    mappings: resolveMappings(settings.mappings, folder),
    ...(keys !== undefined && { keys: resolve(folder, keys) }),
    archive: resolvePath(mustRead(readArchiveLocation, settings.archive), folder),
    folder,
    ...facts,
  };
}

/** PostgreSQL's driver takes the authority from the address. */
function resolveLedger({ url, ca }: WrittenAddress, folder: string): LedgerLocation {
  const location = resolvePath(mustRead(readLedgerLocation, url), folder);
  return location.kind === 'postgres' ? { ...location, url: completePostgresUrl(url, folder, ca) } : location;
}

function resolveQueue({ url, ca }: WrittenAddress, folder: string): QueueLocation {
  const location = mustRead(readQueueLocation, url);
  return location.kind !== 'redis' || ca === undefined ? location : { ...location, ca: resolve(folder, ca) };
}

function resolveServer(server: Settings['server'], folder: string): Settings['server'] {
  const { users } = server;
  return users === undefined ? server : { ...server, users: resolve(folder, users) };
}

function resolveVerdicts(verdicts: Settings['verdicts'], folder: string): Settings['verdicts'] {
  const { maildir } = verdicts;
  return maildir === undefined ? verdicts : { ...verdicts, maildir: resolve(folder, maildir) };
}

function resolveMappings(mappings: Settings['mappings'], folder: string): Settings['mappings'] {
  const { newHotels } = mappings;
  return newHotels === undefined ? mappings : { ...mappings, newHotels: resolve(folder, newHotels) };
}

function resolvePath<Location extends LedgerLocation | ArchiveLocation>(
  location: Location,
  folder: string,
): Location {
  return 'path' in location ? { ...location, path: resolve(folder, location.path) } : location;
}

function mustRead<Location>(read: (text: string) => Location | undefined, text: string): Location {
  const location = read(text);
  if (location === undefined) throw new RangeError('the schema let a location through that cannot be read');
  return location;
}
