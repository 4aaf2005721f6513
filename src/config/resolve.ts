import { resolve } from 'node:path';
import { defaultStatusCodes, type StatusCodeTable } from '../mapping-service/verdict.js';
import { resolveKeyFile } from '../settings/sftp-account.js';
import { kindOf } from '../sources/registry.js';
import {
  type ArchiveLocation,
  type LedgerLocation,
  type QueueLocation,
  readArchiveLocation,
  readLedgerLocation,
  readQueueLocation,
} from './locations.js';
import type { RenamedSetting } from './renamed-settings.js';
import type { Settings } from './schema.js';

/** The configuration as the parts use it: with all defaults, every path absolute. */
export interface Config extends Omit<Settings, 'service' | 'body' | 'ledger' | 'queue' | 'archive'> {
  readonly service: Omit<Settings['service'], 'statusCodes'> & { readonly statusCodes: StatusCodeTable };
  readonly body: Settings['body'] & { readonly timeoutSeconds: number };
  readonly ledger: LedgerLocation;
  readonly queue: QueueLocation;
  readonly archive: ArchiveLocation;
  /** The settings whose secrets are in the file itself, as paths. `doctor` warns about them. */
  readonly literalSecrets: readonly string[];
  /** The settings with old names. The command prints a notice for each. */
  readonly renamedSettings: readonly RenamedSetting[];
}

/** @param folder of the configuration file, absolute: the base of relative paths */
export function resolveConfig(
  settings: Settings,
  { folder, ...facts }: { readonly folder: string } & Pick<Config, 'literalSecrets' | 'renamedSettings'>,
): Config {
  const { service, source, body, file } = settings;
  return {
    ...settings,
    service: { ...service, statusCodes: { ...defaultStatusCodes, ...service.statusCodes } },
    source: kindOf(source).resolve(source, folder),
    body: { ...body, timeoutSeconds: body.timeoutSeconds ?? service.timeoutSeconds },
    file: {
      ...file,
      spool: resolve(folder, file.spool),
      ...(file.sftp && { sftp: resolveKeyFile(file.sftp, folder) }),
    },
    ledger: resolvePath(mustRead(readLedgerLocation, settings.ledger), folder),
    queue: mustRead(readQueueLocation, settings.queue),
    archive: resolvePath(mustRead(readArchiveLocation, settings.archive), folder),
    ...facts,
  };
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
