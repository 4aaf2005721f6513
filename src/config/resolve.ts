import { resolve } from 'node:path';
import { defaultStatusCodes, type StatusCodeTable } from '../mapping-service/verdict.js';
import { readFileLocation } from '../sources/files/location.js';
import { readSqlAddress } from '../sources/sql/address.js';
import {
  type ArchiveLocation,
  type LedgerLocation,
  type QueueLocation,
  readArchiveLocation,
  readLedgerLocation,
  readQueueLocation,
} from './locations.js';
import type { Settings } from './schema.js';

/** The configuration as the parts use it: nothing left to default, every path absolute. */
export interface Config extends Omit<Settings, 'service' | 'body' | 'ledger' | 'queue' | 'archive'> {
  readonly service: Omit<Settings['service'], 'statusCodes'> & { readonly statusCodes: StatusCodeTable };
  readonly body: Settings['body'] & { readonly timeoutSeconds: number };
  readonly ledger: LedgerLocation;
  readonly queue: QueueLocation;
  readonly archive: ArchiveLocation;
  /** The settings whose secret stands in the file itself, as paths; `doctor` warns of them. */
  readonly literalSecrets: readonly string[];
}

/** @param folder the folder of the configuration file, absolute: what relative paths are relative to */
export function resolveConfig(
  settings: Settings,
  { folder, literalSecrets }: { readonly folder: string; readonly literalSecrets: readonly string[] },
): Config {
  const { service, source, body, file } = settings;
  return {
    ...settings,
    service: { ...service, statusCodes: { ...defaultStatusCodes, ...service.statusCodes } },
    source: resolveSource(source, folder),
    body: { ...body, timeoutSeconds: body.timeoutSeconds ?? service.timeoutSeconds },
    file: {
      ...file,
      spool: resolve(folder, file.spool),
      ...(file.sftp && { sftp: resolveKeyFile(file.sftp, folder) }),
    },
    ledger: resolvePath(mustRead(readLedgerLocation, settings.ledger), folder),
    queue: mustRead(readQueueLocation, settings.queue),
    archive: resolvePath(mustRead(readArchiveLocation, settings.archive), folder),
    literalSecrets,
  };
}

function resolveSource(source: Settings['source'], folder: string): Settings['source'] {
  switch (source.kind) {
    case 'csv':
    case 'ndjson': {
      const { path, sftp } = source;
      return {
        ...source,
        path: readFileLocation(path).kind === 'local' ? resolve(folder, path) : path,
        ...(sftp && { sftp: resolveKeyFile(sftp, folder) }),
      };
    }
    case 'module':
      return { ...source, path: resolve(folder, source.path) };
    case 'http':
      return source;
    case 'sql':
      return resolveSqlSource(source, folder);
  }
}

function resolveSqlSource(source: SqlSource, folder: string): SqlSource {
  const { url, queryFile, ca } = source;
  const address = readSqlAddress(url);
  return {
    ...source,
    ...(address.kind === 'sqlite' && { url: `sqlite:${resolve(folder, address.path)}` }),
    ...(queryFile !== undefined && { queryFile: resolve(folder, queryFile) }),
    ...(ca !== undefined && { ca: resolve(folder, ca) }),
  };
}

type SqlSource = Extract<Settings['source'], { kind: 'sql' }>;

function resolveKeyFile<Sftp extends { readonly privateKeyFile?: string }>(sftp: Sftp, folder: string): Sftp {
  const { privateKeyFile } = sftp;
  return privateKeyFile === undefined ? sftp : { ...sftp, privateKeyFile: resolve(folder, privateKeyFile) };
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
