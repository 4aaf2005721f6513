import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ssh2, { type FileEntry, type SFTPWrapper } from 'ssh2';
import { fingerprintOf } from '../../src/sandbox/sftp/host-key.js';

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;
const folderMode = 0o040755;
const fileMode = 0o100644;

export interface ExhaustingSftp {
  readonly port: number;
  readonly fingerprint: string;
  readonly username: string;
  readonly password: string;
  /** What is on the server, by absolute path. */
  readonly files: Map<string, Buffer>;
  /** Files that consist of as many commas as they claim to have bytes, by absolute path. */
  readonly claims: Map<string, number>;
  /** What each request for a part of a folder is answered with, forever; without it folders end as usual. */
  listForever: (() => readonly string[]) | undefined;
  /** The most bytes in an answer to a request for a part of a file. */
  pieceBytes: number;
  /** How long each answer about the content of a file or a folder takes. */
  answerAfterMs: number;
  /** How often a part of a folder was requested. */
  listRequests: number;
  /** The bytes of files that were sent. */
  bytesSent: number;
  close(): Promise<void>;
}

/** An SFTP server in memory that accepts every upload and does its best to exhaust every client. */
export async function startExhaustingSftp(): Promise<ExhaustingSftp> {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const connections = new Set<ssh2.Connection>();
  const server = new ssh2.Server({ hostKeys: [privateKey] }, (connection) => {
    connections.add(connection);
    connection.on('error', () => {});
    connection.on('close', () => connections.delete(connection));
    connection.on('authentication', (context) => context.accept());
    connection.on('session', (accept) => {
      accept().on('sftp', (acceptSftp) => serve(acceptSftp(), hostile));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostile: ExhaustingSftp = {
    port: (server.address() as AddressInfo).port,
    fingerprint: fingerprintOf(privateKey),
    username: 'acme',
    password: 'hostile',
    files: new Map(),
    claims: new Map(),
    listForever: undefined,
    pieceBytes: 32_768,
    answerAfterMs: 0,
    listRequests: 0,
    bytesSent: 0,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const connection of connections) connection.end();
      await closed;
    },
  };
  return hostile;
}

function serve(sftp: SFTPWrapper, hostile: ExhaustingSftp): void {
  const { files, claims } = hostile;
  /** Open files and folders; a folder ends after its first part. */
  const handles = new Map<number, { readonly path: string; isListed: boolean }>();
  const open = (id: number, path: string) => {
    const number = handles.size;
    handles.set(number, { path, isListed: false });
    const handle = Buffer.alloc(4);
    handle.writeUInt32BE(number);
    sftp.handle(id, handle);
  };
  const opened = (handle: Buffer) => handles.get(handle.readUInt32BE()) ?? { path: '', isListed: false };
  const succeed = (id: number) => sftp.status(id, STATUS_CODE.OK);
  const later = (answer: () => void) => {
    if (hostile.answerAfterMs === 0) answer();
    else setTimeout(answer, hostile.answerAfterMs);
  };
  const sizeOf = (path: string) => claims.get(path) ?? files.get(path)?.length;
  const describe = (path: string): FileEntry['attrs'] => {
    const size = sizeOf(path);
    const mode = size === undefined ? folderMode : fileMode;
    return { mode, size: size ?? 0, uid: 0, gid: 0, atime: 1, mtime: 1 };
  };
  const look = (id: number, path: string) => {
    const isFile = sizeOf(path) !== undefined;
    if (!isFile && /\.[a-z]+$/.test(path)) sftp.status(id, STATUS_CODE.NO_SUCH_FILE);
    else sftp.attrs(id, describe(path));
  };

  sftp.on('STAT', look);
  sftp.on('LSTAT', look);
  sftp.on('FSTAT', (id, handle) => look(id, opened(handle).path));
  for (const change of ['FSETSTAT', 'SETSTAT', 'MKDIR', 'CLOSE'] as const) {
    sftp.on(change, (id: number) => succeed(id));
  }
  sftp.on('REMOVE', (id, path) => {
    files.delete(path);
    claims.delete(path);
    succeed(id);
  });
  sftp.on('RENAME', (id, from, to) => {
    files.set(to, files.get(from) ?? Buffer.alloc(0));
    files.delete(from);
    succeed(id);
  });
  sftp.on('OPEN', (id, path, flags) => {
    if ((flags & OPEN_MODE.WRITE) !== 0) files.set(path, Buffer.alloc(0));
    open(id, path);
  });
  sftp.on('WRITE', (id, handle, offset, data) => {
    const { path } = opened(handle);
    const before = files.get(path) ?? Buffer.alloc(0);
    const content = Buffer.alloc(Math.max(before.length, offset + data.length));
    before.copy(content);
    data.copy(content, offset);
    files.set(path, content);
    succeed(id);
  });
  sftp.on('READ', (id, handle, offset, length) => {
    const { path } = opened(handle);
    const bytes = Math.min(length, hostile.pieceBytes, (sizeOf(path) ?? 0) - offset);
    later(() => {
      if (bytes <= 0) return sftp.status(id, STATUS_CODE.EOF);
      hostile.bytesSent += bytes;
      sftp.data(id, files.get(path)?.subarray(offset, offset + bytes) ?? Buffer.alloc(bytes, ','));
    });
  });
  sftp.on('OPENDIR', open);
  sftp.on('READDIR', (id, handle) => {
    const folder = opened(handle);
    hostile.listRequests += 1;
    later(() => {
      const names = hostile.listForever?.();
      if (!names && folder.isListed) return sftp.status(id, STATUS_CODE.EOF);
      folder.isListed = true;
      const found = [...files.keys(), ...claims.keys()]
        .filter((path) => path.slice(0, path.lastIndexOf('/')) === folder.path)
        .map((path) => path.slice(path.lastIndexOf('/') + 1));
      sftp.name(
        id,
        (names ?? found).map((filename) => ({
          filename,
          longname: filename,
          attrs: describe(names ? `${folder.path}/.csv` : `${folder.path}/${filename}`),
        })),
      );
    });
  });
}
