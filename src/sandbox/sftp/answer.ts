import type { Attributes, FileEntry, SFTPWrapper } from 'ssh2';
import ssh2 from 'ssh2';

/** The answer to a request. */
export type Answer =
  | { readonly kind: 'done' }
  | { readonly kind: 'no-more' }
  | { readonly kind: 'failed'; readonly status: number; readonly message: string }
  | { readonly kind: 'handle'; readonly handle: Buffer }
  | { readonly kind: 'data'; readonly data: Buffer }
  | { readonly kind: 'names'; readonly names: readonly FileEntry[] }
  /** For REALPATH: a name without attributes. */
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'attributes'; readonly attributes: Attributes };

export const done: Answer = { kind: 'done' };

/** Answers the request with this number. Has no effect when the client has left. */
export function sendAnswer(channel: SFTPWrapper, request: number, answer: Answer): void {
  switch (answer.kind) {
    case 'done':
      return channel.status(request, status.OK);
    case 'no-more':
      return channel.status(request, status.EOF);
    case 'failed':
      return channel.status(request, answer.status, answer.message);
    case 'handle':
      return channel.handle(request, answer.handle);
    case 'data':
      return channel.data(request, answer.data);
    case 'names':
      return channel.name(request, [...answer.names]);
    case 'path':
      return channel.name(request, [
        { filename: answer.path, longname: answer.path, attrs: {} as Attributes },
      ]);
    case 'attributes':
      return channel.attrs(request, answer.attributes);
  }
}

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
