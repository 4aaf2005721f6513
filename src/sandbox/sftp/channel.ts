import type { SFTPWrapper } from 'ssh2';
import { type Answer, explainFailure, RequestRefused, sendAnswer, status } from './answer.js';
import { createFileRequests, createHandles } from './file-requests.js';
import type { Jail } from './jail.js';
import type { WantedAttributes } from './open-file.js';
import { createPathRequests } from './path-requests.js';
import type { SftpEvent } from './sftp-event.js';

/** A client's SFTP channel. */
export interface SftpChannel {
  /** Resolves once its requests are done and its files closed. Idempotent; never rejects. */
  end(): Promise<void>;
}

interface ChannelOptions {
  readonly jail: Jail;
  readonly clock: () => number;
  readonly onEvent: (event: SftpEvent) => void;
}

/** OpenSSH's rename that replaces an existing file. */
const posixRename = 'posix-rename@openssh.com';

/**
 * Answers a client's requests one at a time, in order, so that a close comes after all earlier writes.
 *
 * ssh2's server announces no extensions, and they could be added only through its private parts. So clients that check for
 * posix-rename (OpenSSH's sftp, ssh2, this project) use the plain rename of SFTP 3, which fails when the target exists;
 * clients that try it anyway (paramiko) get it.
 */
export function serveChannel(channel: SFTPWrapper, { jail, clock, onEvent }: ChannelOptions): SftpChannel {
  const handles = createHandles();
  const files = createFileRequests({ jail, handles, onEvent });
  const paths = createPathRequests({ jail, handles, clock, onEvent });

  let queue = Promise.resolve();
  let ended = false;

  const answer = <Given extends unknown[]>(name: string, act: (...given: Given) => Promise<Answer>): void => {
    channel.on(name, (request: number, ...given: Given) => {
      if (ended) return;
      const task = async () => sendAnswer(channel, request, await outcomeOf(() => act(...given)));
      // Sending fails only when the client has left; `end` follows.
      queue = queue.then(task).catch(() => {});
    });
  };
  answer('OPEN', (path: string, flags: number) => files.open(path, flags));
  answer('READ', files.read);
  answer('WRITE', files.write);
  answer('FSTAT', files.stat);
  answer('FSETSTAT', (handle: Buffer, wanted: WantedAttributes) => files.setAttributes(handle, wanted));
  answer('CLOSE', files.close);
  answer('REALPATH', paths.realPath);
  answer('STAT', paths.stat);
  answer('LSTAT', paths.lstat);
  answer('SETSTAT', (path: string, wanted: WantedAttributes) => paths.setAttributes(path, wanted));
  answer('OPENDIR', paths.openFolder);
  answer('READDIR', paths.readFolder);
  answer('MKDIR', (path: string) => paths.makeFolder(path));
  answer('RMDIR', paths.removeFolder);
  answer('REMOVE', paths.removeFile);
  answer('RENAME', paths.rename);
  answer('EXTENDED', async (name: string, data: Buffer | undefined) => {
    if (name !== posixRename) throw new RequestRefused(status.OP_UNSUPPORTED, 'Not supported');
    return paths.renameReplacing(...readTwoPaths(data));
  });
  const refuseLinks = async (): Promise<Answer> => {
    throw new RequestRefused(status.OP_UNSUPPORTED, 'Links are not supported');
  };
  answer('READLINK', refuseLinks);
  answer('SYMLINK', refuseLinks);

  const end = (): Promise<void> => {
    if (!ended) {
      ended = true;
      // Ending the channel fails when the connection is gone.
      queue = queue
        .then(files.closeAll)
        .then(() => channel.end())
        .catch(() => {});
    }
    return queue;
  };
  const onEnd = () => {
    void end();
  };
  channel.on('end', onEnd);
  channel.on('close', onEnd);
  // After a malformed packet ssh2 closes the channel itself, but an unhandled error would end the process.
  channel.on('error', onEnd);
  return { end };
}

async function outcomeOf(act: () => Promise<Answer>): Promise<Answer> {
  try {
    return await act();
  } catch (error) {
    return { kind: 'failed', ...explainFailure(error) };
  }
}

/** The two paths of a posix-rename. @throws RequestRefused for any other payload */
export function readTwoPaths(data: Buffer | undefined): readonly [string, string] {
  const paths: string[] = [];
  let rest = data ?? Buffer.alloc(0);
  while (rest.length >= 4) {
    const end = 4 + rest.readUInt32BE(0);
    if (end > rest.length) break;
    paths.push(rest.toString('utf8', 4, end));
    rest = rest.subarray(end);
  }
  const [from, to] = paths;
  if (from === undefined || to === undefined || paths.length > 2 || rest.length > 0) {
    throw new RequestRefused(status.BAD_MESSAGE, 'Expected two paths');
  }
  return [from, to];
}
