import { createBusinessDay } from '../../booking/business-day.js';
import type { Run } from '../../ledger/run.js';
import { joinToRoot } from '../../sftp/session.js';
import { locateRemoteFiles } from './remote-files.js';

/** Settings that decide what the day's file is called. */
export interface PathSettings {
  /** The root on the SFTP server. */
  readonly root: string;
  /** Prepended to the path that the service is told. */
  readonly pathPrefix: string;
}

/** What servers answer when the root is not an existing folder, or not the account's own. */
const codesOfWrongRoot: readonly string[] = [
  'sftp-no-such-file',
  'sftp-permission-denied',
  'sftp-server-failure',
];
/** Codes of the service that say nothing about the path. */
const codesOfOtherCauses: readonly string[] = ['code-2001', 'code-2030'];

/** What to do when a step failed because a path may be wrong: names it as the other side knows it. */
export function adviseOnPath(
  { day }: Pick<Run, 'day'>,
  { name, code }: { readonly name: string; readonly code: string },
  { root, pathPrefix }: PathSettings,
): string | undefined {
  const { folder, path } = locateRemoteFiles(createBusinessDay(day, 'UTC'));
  if (codesOfWrongRoot.includes(code))
    return `file.sftp.root must be a folder on the server below which the account may write, and create ${joinToRoot(root, folder)}: check it`;
  if (name !== 'trigger' || !code.startsWith('code-') || codesOfOtherCauses.includes(code)) return undefined;
  const prefix = pathPrefix === '' ? 'no prefix' : `the prefix ${pathPrefix}`;
  return `the service was told ${pathPrefix}${path} (${prefix}), which is ${joinToRoot(root, path)} on the SFTP server: check file.sftp.root and file.ftpFilePathPrefix`;
}
