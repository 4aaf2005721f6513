import type { SFTPWrapper } from 'ssh2';
import { type Answer, explainFailure, RequestRefused, sendAnswer, status } from './answer.js';
import { createFileRequests, createHandles } from './file-requests.js';
import type { Jail } from './jail.js';
import type { WantedAttributes } from './open-file.js';
import { createPathRequests } from './path-requests.js';
import type { SftpEvent } from './sftp-event.js';

/** One client's conversation about files. */
export interface SftpChannel {
  /** Resolves when what it asked for is done and nothing of it is open any more. Idempotent; never throws. */
  end(): Promise<void>;
}

interface ChannelOptions {
  readonly jail: Jail;
  readonly clock: () => number;
  readonly onEvent: (event: SftpEvent) => void;
}

/** What OpenSSH calls the rename that replaces. */
const posixRename = 'posix-rename@openssh.com';

/**
 * Answers a client's requests one after another, in the order in which they came: so a close finds all writes done that
 * were sent before it.
 *
 * ssh2's server sends a version without extensions, and there is no way to add one but through its private parts. So
 * clients that look there first (OpenSSH's sftp, ssh2, this project's own) rename as in plain SFTP 3, where an existing
 * file is in the way; those that just try posix-rename (paramiko) have it.
 */
export function serveChannel(channel: SFTPWrapper, { jail, clock, onEvent }: ChannelOptions): SftpChannel {
  const handles = createHandles();
  const files = createFileRequests({ jail, handles, onEvent });
  const paths = createPathRequests({ jail, handles, clock, onEvent });

  let turns = Promise.resolve();
  let ended = false;

  const answer = <Given extends unknown[]>(name: string, act: (...given: Given) => Promise<Answer>): void => {
    channel.on(name, (request: number, ...given: Given) => {
      if (ended) return;
      const turn = async () => sendAnswer(channel, request, await outcomeOf(() => act(...given)));
      // An answer that cannot be sent is that of a client who has left: `end` follows.
      turns = turns.then(turn).catch(() => {});
    });
  };
  answer('OPEN', (path: string, flags: number) => files.open(path, flags));
  answer('READ', files.read);
  answer('WRITE', files.write);
  answer('FSTAT', files.look);
  answer('FSETSTAT', (handle: Buffer, wanted: WantedAttributes) => files.change(handle, wanted));
  answer('CLOSE', files.close);
  answer('REALPATH', paths.realPath);
  answer('STAT', paths.look);
  answer('LSTAT', paths.lookEvenAtLink);
  answer('SETSTAT', (path: string, wanted: WantedAttributes) => paths.change(path, wanted));
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
      // Where the connection is gone, there is no channel to end.
      turns = turns
        .then(files.closeAll)
        .then(() => channel.end())
        .catch(() => {});
    }
    return turns;
  };
  const leave = () => {
    void end();
  };
  channel.on('end', leave);
  channel.on('close', leave);
  // A malformed packet: ssh2 closes the channel by itself, but without a listener the error would end the process.
  channel.on('error', leave);
  return { end };
}

async function outcomeOf(act: () => Promise<Answer>): Promise<Answer> {
  try {
    return await act();
  } catch (error) {
    return { kind: 'failed', ...explainFailure(error) };
  }
}

/** The two paths that a posix-rename carries. @throws RequestRefused when it carries something else */
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
