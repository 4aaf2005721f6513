import ssh2 from 'ssh2';
import { nameReason } from '../common/errors.js';

export const status = ssh2.utils.sftp.STATUS_CODE;

/** A request that is refused. Its message goes to the client. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** By the code of a system error. Never Node's own message, which contains paths of this disk. */
const failures: Readonly<Record<string, readonly [number, string]>> = {
  ENOENT: [status.NO_SUCH_FILE, 'No such file or folder'],
  ENOTDIR: [status.NO_SUCH_FILE, 'No such file or folder'],
  EACCES: [status.PERMISSION_DENIED, 'Permission denied'],
  EPERM: [status.PERMISSION_DENIED, 'Permission denied'],
  EROFS: [status.PERMISSION_DENIED, 'Permission denied'],
  ELOOP: [status.PERMISSION_DENIED, 'Permission denied'],
  ENAMETOOLONG: [status.BAD_MESSAGE, 'Invalid path or value'],
  ERR_INVALID_ARG_VALUE: [status.BAD_MESSAGE, 'Invalid path or value'],
  ENOSPC: [status.FAILURE, 'No space left on the disk'],
  EDQUOT: [status.FAILURE, 'No space left on the disk'],
  EEXIST: [status.FAILURE, 'The name is already in use'],
  ENOTEMPTY: [status.FAILURE, 'The folder is not empty'],
  EISDIR: [status.FAILURE, 'Is a folder'],
};

/** Status and message for a failed request. */
export function explainFailure(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof RequestRefused) return { status: error.status, message: error.message };
  const [code, message] = failures[nameReason(error)] ?? [status.FAILURE, 'Failure'];
  return { status: code, message };
}
