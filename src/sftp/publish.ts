import { isStatus, status } from './failure.js';
import type { RemoteCalls } from './remote-calls.js';
import { SftpError } from './sftp.js';

/**
 * Moves a file of `size` bytes from its temporary to its final name.
 *
 * There is no look afterwards: some servers take a file away as soon as it has its name.
 */
export async function publishFile(
  remote: RemoteCalls,
  from: string,
  to: string,
  size: number,
): Promise<void> {
  const source = await remote.stat(from);
  if (source === undefined) {
    if ((await remote.stat(to))?.size === size) return; // An earlier call did it, and its answer was lost.
    throw sourceMissing(from, to);
  }
  if (source.size !== size) {
    throw new SftpError(
      'retryable',
      'short-upload',
      `publish ${from}: it has ${source.size} bytes instead of ${size}`,
    );
  }

  if ((await remote.renameReplacing(from, to)) === 'renamed') return;
  try {
    await remote.rename(from, to);
  } catch (error) {
    // Without posix-rename an existing target is a reason to fail, and seldom one that is told.
    const maybeTaken = isStatus(error, status.failure, status.fileAlreadyExists);
    if (!maybeTaken || (await remote.stat(to)) === undefined) throw error;
    // Who took this over meanwhile has removed the temporary file, and then published its own.
    if ((await remote.stat(from)) === undefined) throw sourceMissing(from, to);
    await remote.unlink(to);
    await remote.rename(from, to);
  }
}

function sourceMissing(from: string, to: string): SftpError {
  return new SftpError(
    'retryable',
    'source-missing',
    `publish ${from}: the uploaded file is gone, and ${to} is not it`,
  );
}
