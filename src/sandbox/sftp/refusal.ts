import ssh2 from 'ssh2';

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

/** Status and message for a failed request. Never uses Node's own message, which contains paths of this disk. */
export function explainFailure(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof RequestRefused) return { status: error.status, message: error.message };
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { status: status.NO_SUCH_FILE, message: 'No such file or folder' };
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ELOOP':
      return { status: status.PERMISSION_DENIED, message: 'Permission denied' };
    case 'ENAMETOOLONG':
    case 'EINVAL':
    case 'ERR_INVALID_ARG_VALUE':
    case 'ERR_OUT_OF_RANGE':
      return { status: status.BAD_MESSAGE, message: 'Invalid path or value' };
    case 'ENOSYS':
    case 'ENOTSUP':
      return { status: status.OP_UNSUPPORTED, message: 'Not supported' };
    case 'ENOSPC':
    case 'EDQUOT':
      return { status: status.FAILURE, message: 'No space left on the disk' };
    case 'EEXIST':
      return { status: status.FAILURE, message: 'The name is already in use' };
    case 'ENOTEMPTY':
      return { status: status.FAILURE, message: 'The folder is not empty' };
    case 'EISDIR':
      return { status: status.FAILURE, message: 'Is a folder' };
    default:
      return { status: status.FAILURE, message: 'Failure' };
  }
}
