import { lstatSync, renameSync } from 'node:fs';
import { chmod, lstat, mkdir, rmdir, truncate, unlink, utimes } from 'node:fs/promises';
import { type Answer, done, RequestRefused, status } from './answer.js';
import type { Handles } from './file-requests.js';
import { type Jail, normalisePath, type Place } from './jail.js';
import { changeAttributes, newFolderMode, toAttributes, type WantedAttributes } from './open-file.js';
import { openFolder } from './open-folder.js';
import type { SftpEvent } from './sftp-event.js';

/** The requests that name files and folders by their paths. */
export interface PathRequests {
  realPath(path: string): Promise<Answer>;
  look(path: string): Promise<Answer>;
  /** Tells of a link that it is one. */
  lookEvenAtLink(path: string): Promise<Answer>;
  change(path: string, wanted: WantedAttributes): Promise<Answer>;
  openFolder(path: string): Promise<Answer>;
  readFolder(handle: Buffer): Promise<Answer>;
  makeFolder(path: string): Promise<Answer>;
  removeFolder(path: string): Promise<Answer>;
  removeFile(path: string): Promise<Answer>;
  /** Fails where the new name is taken. */
  rename(from: string, to: string): Promise<Answer>;
  /** Replaces a file of the new name in one step. */
  renameReplacing(from: string, to: string): Promise<Answer>;
}

interface PathRequestsOptions {
  readonly jail: Jail;
  readonly handles: Handles;
  readonly clock: () => number;
  readonly onEvent: (event: SftpEvent) => void;
}

export function createPathRequests({ jail, handles, clock, onEvent }: PathRequestsOptions): PathRequests {
  /** The place of something that may be changed, moved or removed: the root may not. */
  const locateBelowRoot = async (path: string): Promise<Place> => {
    const place = await jail.locate(path);
    if (place.path === '') throw new RequestRefused(status.PERMISSION_DENIED, 'The root stays as it is');
    return place;
  };

  return {
    // Paths that lead nowhere have one too: clients ask for that of a file which they are about to make.
    async realPath(path) {
      return { kind: 'path', path: normalisePath(path) };
    },

    async look(path) {
      return describe(await jail.locate(path));
    },

    async lookEvenAtLink(path) {
      return describe(await jail.locateEvenLink(path));
    },

    async change(path, wanted) {
      const { onDisk, stats } = await locateBelowRoot(path);
      if (stats === undefined) throw nothingThere();
      const file = {
        stat: () => lstat(onDisk),
        truncate: (size: number) => truncate(onDisk, size),
        chmod: (mode: number) => chmod(onDisk, mode),
        utimes: (atime: number, mtime: number) => utimes(onDisk, atime, mtime),
      };
      await changeAttributes(file, wanted);
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
      // Look and rename in one go, so that of two clients with one target only one gets it.
      if (lstatSync(target.onDisk, { throwIfNoEntry: false }) !== undefined) {
        throw new RequestRefused(status.FAILURE, 'There is something of that name already');
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
