import type { OpenFile } from './open-file.js';
import type { OpenFolder } from './open-folder.js';
import { RequestRefused, status } from './status.js';

/** What a client has open, by the handles that it was given. */
export interface Handles {
  add(opened: OpenFile | OpenFolder): Buffer;
  /** @throws RequestRefused when that handle is no open file */
  file(handle: Buffer): OpenFile;
  /** @throws RequestRefused when that handle is no open folder */
  folder(handle: Buffer): OpenFolder;
  /** Forgets a handle. @throws RequestRefused for an unknown one */
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
      if (found.kind !== 'file') throw new RequestRefused(status.FAILURE, 'The handle is that of a folder');
      return found;
    },
    folder(handle) {
      const found = find(handle);
      if (found.kind !== 'folder') throw new RequestRefused(status.FAILURE, 'The handle is that of a file');
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
