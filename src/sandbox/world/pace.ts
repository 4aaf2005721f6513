import { readFile, writeFile } from 'node:fs/promises';
import { SandboxError } from '../common/errors.js';

/** How a world changes. */
export interface Pace {
  readonly changesPerHour: number;
  /** When changes start, in epoch milliseconds; not before the world's own beginning. */
  readonly since: number;
}

/** What identifies a changing world, apart from when its changes started. */
interface WorldSettings {
  readonly world: number;
  readonly hotels: number;
  readonly changesPerHour: number;
}

/**
 * Reads since when the world of a folder changes, so that a restarted sandbox continues with the same world. The first
 * sandbox of a folder, and one with other settings, starts a new world now.
 *
 * @throws SandboxError when the file holds something else
 */
export async function readOrStartPace(path: string, settings: WorldSettings, now: number): Promise<Pace> {
  const { world, hotels, changesPerHour } = settings;
  const stored = await readIfThere(path);
  const known = stored === undefined ? undefined : parsePace(stored, path);
  const isSame = known?.world === world && known.hotels === hotels && known.changesPerHour === changesPerHour;
  if (known && isSame) return { changesPerHour, since: known.changingSince };
  const text = JSON.stringify({ world, hotels, changesPerHour, changingSince: new Date(now).toISOString() });
  await writeFile(path, `${text}\n`, { mode: 0o600 });
  return { changesPerHour, since: now };
}

function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

function parsePace(text: string, path: string) {
  try {
    const { world, hotels, changesPerHour, changingSince } = JSON.parse(text);
    const instant = Date.parse(changingSince);
    if (Number.isNaN(instant)) throw new RangeError('expected an instant');
    return { world, hotels, changesPerHour, changingSince: instant };
  } catch {
    throw new SandboxError(`${path} was not written by the sandbox; move it away, or use another --folder`);
  }
}
