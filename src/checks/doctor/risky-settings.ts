import { findRemoteHost, readConnectionSecurity } from '../../base/connection-security.js';
import type { Config } from '../../config/load.js';
import { kindOf } from '../../sources/registry.js';
import { type Finding, findingsOf, type Part } from '../examination/finding.js';

interface DatabaseConnection {
  readonly part: Part;
  /** The setting that holds the address. */
  readonly setting: string;
  /** With user and password, which are never shown. */
  readonly url: string;
}

/** Warns if guests' names cross the network unprotected, which the configuration has to allow first. */
export function warnAboutPlainConnection({ part, setting, url }: DatabaseConnection): readonly Finding[] {
  const security = readConnectionSecurity(url);
  if (security === 'local' || security === 'verified') return [];
  const fault =
    security === 'plain'
      ? "is not encrypted: guests' names cross the network in plain text"
      : "does not verify the certificate: guests' names go to whoever answers";
  return [
    findingsOf(part).warning(
      `the connection to ${findRemoteHost(url)} ${fault}`,
      `Add ?sslmode=verify-full to the address in ${setting}, if the server supports TLS.`,
    ),
  ];
}

export function warnOfSourceWire({ source }: Config): readonly Finding[] {
  const database = kindOf(source).findDatabase?.(source);
  return database === undefined ? [] : warnAboutPlainConnection({ part: 'source', ...database });
}

export function warnOfLedgerWire({ ledger }: Config): readonly Finding[] {
  if (!('url' in ledger)) return [];
  return warnAboutPlainConnection({ part: 'ledger', setting: 'ledger', url: ledger.url });
}

/** Workers on several machines share a queue, but can't see what is only on this machine. */
export function checkSharedFolders({ queue, ledger, archive }: Config): readonly Finding[] {
  if (queue.kind === 'in-process') return [];
  const findings: Finding[] = [];
  if ('path' in ledger) {
    findings.push(
      findingsOf('ledger').warning(
        'it is a file, but the queue is on Redis: workers on other machines cannot reach it',
        'Keep all workers on this machine, or set ledger to postgres://…',
      ),
    );
  }
  if (archive.kind === 'directory') {
    findings.push(
      findingsOf('archive').warning(
        `${archive.path} is a folder on one machine, but any worker may archive: the evidence of file runs would be spread across machines`,
        'Put it on a file system that all workers share, or keep all workers on one machine.',
      ),
    );
  }
  return findings;
}
