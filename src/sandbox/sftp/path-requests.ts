import { lstatSync, renameSync } from 'node:fs';
import { chmod, lstat, mkdir, rmdir, truncate, unlink, utimes } from 'node:fs/promises';
import { type Answer, done, RequestRefused, status } from './answer.js';
import type { Handles } from './file-requests.js';
import { type Jail, normalisePath, type Place } from './jail.js';
import { newFolderMode, setAttributes, toAttributes, type WantedAttributes } from './open-file.js';
import { openFolder } from './open-folder.js';
import type { SftpEvent } from './sftp-event.js';

/** The requests about paths. */
export interface PathRequests {
  realPath(path: string): Promise<Answer>;
  stat(path: string): Promise<Answer>;
  /** Describes a link itself. */
  lstat(path: string): Promise<Answer>;
  setAttributes(path: string, wanted: WantedAttributes): Promise<Answer>;
  openFolder(path: string): Promise<Answer>;
  readFolder(handle: Buffer): Promise<Answer>;
  makeFolder(path: string): Promise<Answer>;
  removeFolder(path: string): Promise<Answer>;
  removeFile(path: string): Promise<Answer>;
  /** Fails when the new name exists. */
  rename(from: string, to: string): Promise<Answer>;
  /** Atomically replaces a file with the new name. */
  renameReplacing(from: string, to: string): Promise<Answer>;
}

interface PathRequestsOptions {
  readonly jail: Jail;
  readonly handles: Handles;
  readonly clock: () => number;
  readonly onEvent: (event: SftpEvent) => void;
}

export function createPathRequests({ jail, handles, clock, onEvent }: PathRequestsOptions): PathRequests {
  /** Locates something that may be changed, moved or removed, which excludes the root. */
  const locateBelowRoot = async (path: string): Promise<Place> => {
    const place = await jail.locate(path);
    if (place.path === '') throw new RequestRefused(status.PERMISSION_DENIED, 'The root cannot be changed');
    return place;
  };

  return {
    // Also for paths that don't exist: clients ask before they create a file.
    async realPath(path) {
      return { kind: 'path', path: normalisePath(path) };
    },

    async stat(path) {
      return describe(await jail.locate(path));
    },

    async lstat(path) {
      return describe(await jail.locateLink(path));
    },

    async setAttributes(path, wanted) {
      const { onDisk, stats } = await locateBelowRoot(path);
      if (stats === undefined) throw nothingThere();
      const file = {
        stat: () => lstat(onDisk),
        truncate: (size: number) => truncate(onDisk, size),
        chmod: (mode: number) => chmod(onDisk, mode),
        utimes: (atime: number, mtime: number) => utimes(onDisk, atime, mtime),
      };
      await setAttributes(file, wanted);
      return done;
    },

    async openFolder(path) {
      const folder = await openFolder(await jail.locate(path), clock);
      return { kind: 'handle', handle: handles.add(folder) };
    },

    async readFolder(handle) {
      const names = await handles.folder(handle).next();
      return names === undefined ? { kind: 'no-more' } : { kind: 'names', names };
    },

    async makeFolder(path) {
      const { onDisk } = await jail.locate(path);
      await mkdir(onDisk, newFolderMode);
      return done;
    },

    async removeFolder(path) {
      const place = await locateBelowRoot(path);
      await rmdir(place.onDisk);
      onEvent({ kind: 'removed', path: place.path });
      return done;
    },

    async removeFile(path) {
      const place = await locateBelowRoot(path);
      await unlink(place.onDisk);
      onEvent({ kind: 'removed', path: place.path });
      return done;
    },

    async rename(from, to) {
      const [source, target] = [await locateBelowRoot(from), await locateBelowRoot(to)];
      // Check and rename synchronously, so that only one of two clients gets the name.
      if (lstatSync(target.onDisk, { throwIfNoEntry: false }) !== undefined) {
        throw new RequestRefused(status.FAILURE, 'The name is already in use');
      }
      renameSync(source.onDisk, target.onDisk);
      onEvent({ kind: 'renamed', from: source.path, to: target.path });
      return done;
    },

    async renameReplacing(from, to) {
      const [source, target] = [await locateBelowRoot(from), await locateBelowRoot(to)];
      renameSync(source.onDisk, target.onDisk);
      onEvent({ kind: 'renamed', from: source.path, to: target.path });
      return done;
    },
  };
}

function describe({ stats }: Place): Answer {
  if (stats === undefined) throw nothingThere();
  return { kind: 'attributes', attributes: toAttributes(stats) };
}

function nothingThere(): RequestRefused {
  return new RequestRefused(status.NO_SUCH_FILE, 'No such file or folder');
}
