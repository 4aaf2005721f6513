import { type Answer, done, RequestRefused, status } from './answer.js';
import type { Jail } from './jail.js';
import { type OpenFile, openFile, toAttributes, type WantedAttributes } from './open-file.js';
import type { OpenFolder } from './open-folder.js';
import type { SftpEvent } from './sftp-event.js';

/** A client's open files and folders, by handle. */
export interface Handles {
  add(opened: OpenFile | OpenFolder): Buffer;
  /** @throws RequestRefused when the handle is not an open file's */
  file(handle: Buffer): OpenFile;
  /** @throws RequestRefused when the handle is not an open folder's */
  folder(handle: Buffer): OpenFolder;
  /** Removes a handle. @throws RequestRefused for an unknown one */
  take(handle: Buffer): OpenFile | OpenFolder;
  takeAll(): readonly (OpenFile | OpenFolder)[];
}

export function createHandles(): Handles {
  const opened = new Map<string, OpenFile | OpenFolder>();
  let lastNumber = 0;

  const find = (handle: Buffer): OpenFile | OpenFolder => {
    const found = opened.get(handle.toString('hex'));
    if (found === undefined) throw new RequestRefused(status.FAILURE, 'No such handle');
    return found;
  };

  return {
    add(what) {
      lastNumber += 1;
      const handle = Buffer.alloc(4);
      handle.writeUInt32BE(lastNumber);
      opened.set(handle.toString('hex'), what);
      return handle;
    },
    file(handle) {
      const found = find(handle);
      if (found.kind !== 'file') throw new RequestRefused(status.FAILURE, 'The handle is a folder');
      return found;
    },
    folder(handle) {
      const found = find(handle);
      if (found.kind !== 'folder') throw new RequestRefused(status.FAILURE, 'The handle is a file');
      return found;
    },
    take(handle) {
      const found = find(handle);
      opened.delete(handle.toString('hex'));
      return found;
    },
    takeAll() {
      const all = [...opened.values()];
      opened.clear();
      return all;
    },
  };
}

/** The requests about open files. */
export interface FileRequests {
  open(path: string, flags: number): Promise<Answer>;
  read(handle: Buffer, position: number, length: number): Promise<Answer>;
  write(handle: Buffer, position: number, data: Buffer): Promise<Answer>;
  stat(handle: Buffer): Promise<Answer>;
  setAttributes(handle: Buffer, wanted: WantedAttributes): Promise<Answer>;
  /** For folders too. */
  close(handle: Buffer): Promise<Answer>;
  /** Closes what the client left open; such files don't count as received. Never rejects. */
  closeAll(): Promise<void>;
}

interface FileRequestsOptions {
  readonly jail: Jail;
  readonly handles: Handles;
  readonly onEvent: (event: SftpEvent) => void;
}

export function createFileRequests({ jail, handles, onEvent }: FileRequestsOptions): FileRequests {
  return {
    async open(path, flags) {
      const place = await jail.locate(path);
      const file = await openFile(place, flags);
      return { kind: 'handle', handle: handles.add(file) };
    },

    async read(handle, position, length) {
      const data = await handles.file(handle).read(position, length);
      return data === undefined ? { kind: 'no-more' } : { kind: 'data', data };
    },

    async write(handle, position, data) {
      await handles.file(handle).write(position, data);
      return done;
    },

    async stat(handle) {
      return { kind: 'attributes', attributes: toAttributes(await handles.file(handle).stat()) };
    },

    async setAttributes(handle, wanted) {
      await handles.file(handle).setAttributes(wanted);
      return done;
    },

    async close(handle) {
      const opened = handles.take(handle);
      if (opened.kind === 'folder') return done;
      const { receivedBytes } = await opened.close();
      if (receivedBytes !== undefined) onEvent({ kind: 'received', path: opened.path, bytes: receivedBytes });
      return done;
    },

    async closeAll() {
      const files = handles.takeAll().filter((opened) => opened.kind === 'file');
      await Promise.allSettled(files.map((file) => file.close()));
    },
  };
}
