import { readFile, writeFile } from 'node:fs/promises';
import { SandboxError } from '../common/errors.js';

/** In the sandbox's folder: which world it has. */
export const worldFile = 'world.json';

/** How a world changes. */
export interface Pace {
  readonly changesPerHour: number;
  /** When changes start, in epoch milliseconds; not before the world's own beginning. */
  readonly since: number;
}

/** What identifies a world, apart from when its changes started. */
export interface WorldSettings {
  readonly world: number;
  readonly hotels: number;
  readonly wrongMappings: number;
  readonly changesPerHour: number;
}

/**
 * Reads since when the world of a folder changes, so that a restarted sandbox continues with the same world. The first
 * sandbox of a folder, and one with other settings, starts a new world now.
 *
 * @throws SandboxError when the file holds something else
 */
export async function readOrStartPace(path: string, settings: WorldSettings, now: number): Promise<Pace> {
  const { world, hotels, wrongMappings, changesPerHour } = settings;
  const known = await readStoredWorld(path);
  const isSame =
    known?.world === world &&
    known.hotels === hotels &&
    known.wrongMappings === wrongMappings &&
    known.changesPerHour === changesPerHour;
  if (known && isSame) return { changesPerHour, since: known.since };
  const changingSince = new Date(now).toISOString();
  const text = JSON.stringify({ world, hotels, wrongMappings, changesPerHour, changingSince });
  await writeFile(path, `${text}\n`, { mode: 0o600 });
  return { changesPerHour, since: now };
}

/**
 * Reads which world the sandbox of a folder has; undefined when none was started there.
 *
 * @throws SandboxError when the file holds something else
 */
export async function readStoredWorld(path: string): Promise<(WorldSettings & Pace) | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : parseWorld(text, path);
}

function parseWorld(text: string, path: string): WorldSettings & Pace {
  try {
    const { world, hotels, wrongMappings = 0, changesPerHour, changingSince } = JSON.parse(text);
    const since = Date.parse(changingSince);
    if (Number.isNaN(since)) throw new RangeError('expected an instant');
    return { world, hotels, wrongMappings, changesPerHour, since };
  } catch {
    throw new SandboxError(`${path} was not written by the sandbox; move it away, or use another --folder`);
  }
}
