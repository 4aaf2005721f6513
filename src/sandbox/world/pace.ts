import { readFile, writeFile } from 'node:fs/promises';
import { SandboxError } from '../common/errors.js';

/** What a changing world is, but for when it began to change. */
export interface ChangingWorld {
  readonly world: number;
  readonly hotels: number;
  readonly changesPerHour: number;
}

/**
 * Since when the world of a folder changes: since the folder's first sandbox of that world and pace, so that one that is
 * started again goes on with it. Another world, or another pace, begins now.
 *
 * @returns epoch milliseconds
 * @throws SandboxError when something else stands in the file
 */
export async function readOrBeginWorld(path: string, changing: ChangingWorld, now: number): Promise<number> {
  const before = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const known = before === undefined ? undefined : readBeginning(before, path);
  const { world, hotels, changesPerHour } = changing;
  const isSame = known?.world === world && known.hotels === hotels && known.changesPerHour === changesPerHour;
  if (known && isSame) return known.changingSince;
  const text = JSON.stringify({ world, hotels, changesPerHour, changingSince: new Date(now).toISOString() });
  await writeFile(path, `${text}\n`, { mode: 0o600 });
  return now;
}

function readBeginning(text: string, path: string) {
  try {
    const { world, hotels, changesPerHour, changingSince } = JSON.parse(text);
    const instant = Date.parse(changingSince);
    if (Number.isNaN(instant)) throw new RangeError('expected an instant');
    return { world, hotels, changesPerHour, changingSince: instant };
  } catch {
    throw new SandboxError(`${path} is not the sandbox's own; move it away, or name another --folder`);
  }
}
