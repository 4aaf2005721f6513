import { completePostgresUrl } from '../base/connection-security.js';
import { resolveMember } from '../base/setting-values.js';
import { type ChannelSettings, resolveChannels } from '../notify/channels/channel-settings.js';
import { defaultStatusCodes, type StatusCodeTable } from '../service/call-result.js';
import { kindOf } from '../sources/registry.js';
import type { ProxyRules } from '../transports/http/tunnel.js';
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
  folder: string,
  proxy: ProxyRules,
  s3: S3Account,
  literalSecrets: readonly string[],
): Config {
  const { service, source, body, file } = settings;
  return {
    ...resolveMember(settings, 'keys', folder),
    service: { ...service, statusCodes: { ...defaultStatusCodes, ...service.statusCodes } },
    source: kindOf(source).resolve(source, folder),
    body: { ...body, timeoutSeconds: body.timeoutSeconds ?? service.timeoutSeconds },
    file: {
      ...resolveMember(file, 'spool', folder),
      ...(file.sftp && { sftp: resolveMember(file.sftp, 'privateKeyFile', folder) }),
    },
    ledger: resolveLedger(toAddress(settings.ledger), folder),
    queue: resolveMember(resolveQueue(toAddress(settings.queue)), 'ca', folder),
    notify: resolveChannels(settings.notify),
    server: resolveMember(settings.server, 'users', folder),
    verdicts: resolveMember(settings.verdicts, 'maildir', folder),
    mappings: resolveMember(settings.mappings, 'newHotels', folder),
    archive: resolveMember(mustRead(readArchiveLocation, settings.archive), 'path', folder),
    ...{ folder, proxy, s3, literalSecrets },
  };
}

/** PostgreSQL's driver takes the authority from the address. */
function resolveLedger({ url, ca }: WrittenAddress, folder: string): LedgerLocation {
  const location = resolveMember(mustRead(readLedgerLocation, url), 'path', folder);
  return location.kind === 'postgres' ? { ...location, url: completePostgresUrl(url, folder, ca) } : location;
}

function resolveQueue({ url, ca }: WrittenAddress): QueueLocation {
  const location = mustRead(readQueueLocation, url);
  return location.kind !== 'redis' || ca === undefined ? location : { ...location, ca };
}

function mustRead<Location>(read: (text: string) => Location | undefined, text: string): Location {
  const location = read(text);
  if (location === undefined) throw new RangeError('the schema let a location through that cannot be read');
  return location;
}
