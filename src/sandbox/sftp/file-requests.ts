import { type Answer, done } from './answer.js';
import { toAttributes, type WantedAttributes } from './attributes.js';
import type { Handles } from './handles.js';
import type { Jail } from './jail.js';
import { openFile } from './open-file.js';
import type { SftpEvent } from './sftp-event.js';

/** The requests about files that are opened, used and closed. */
export interface FileRequests {
  open(path: string, flags: number): Promise<Answer>;
  read(handle: Buffer, position: number, length: number): Promise<Answer>;
  write(handle: Buffer, position: number, data: Buffer): Promise<Answer>;
  look(handle: Buffer): Promise<Answer>;
  change(handle: Buffer, wanted: WantedAttributes): Promise<Answer>;
  /** Of a folder too. */
  close(handle: Buffer): Promise<Answer>;
  /** Closes what the client has left open; what it wrote does not count as received. Never throws. */
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

    async look(handle) {
      return { kind: 'attributes', attributes: toAttributes(await handles.file(handle).stat()) };
    },

    async change(handle, wanted) {
      await handles.file(handle).change(wanted);
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
