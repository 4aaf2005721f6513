import { stat, statfs } from 'node:fs/promises';
import { type Finding, findingsOf } from './finding.js';
import { findPlace } from './place.js';

const { ok, warning, wrong } = findingsOf('disk');

const mebibyte = 2 ** 20;
const gibibyte = 2 ** 30;
const scarceBytes = gibibyte;
const tooFewBytes = 100 * mebibyte;

/** Something that is written, and the folder in which it is or will be. */
export interface WrittenPlace {
  readonly name: string;
  readonly path: string;
}

/** Says how much room there is, once for every file system that is written to. */
export async function checkDisk(places: readonly WrittenPlace[]): Promise<readonly Finding[]> {
  const fileSystems = new Map<number, { readonly folder: string; readonly names: string[] }>();
  for (const { name, path } of places) {
    const { folder } = await findPlace(path);
    const { dev } = await stat(folder);
    const known = fileSystems.get(dev);
    if (known) known.names.push(name);
    else fileSystems.set(dev, { folder, names: [name] });
  }
  return Promise.all([...fileSystems.values()].map(judge));
}

async function judge({ folder, names }: { readonly folder: string; readonly names: readonly string[] }) {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const told = `${formatSpace(free)} free for ${names.join(', ')} (${folder})`;
  const advice = 'Make room: a day that cannot be written down is not sent.';
  if (free < tooFewBytes) return wrong(told, advice);
  return free < scarceBytes ? warning(told, advice) : ok(told);
}

function formatSpace(bytes: number): string {
  return bytes < gibibyte ? `${Math.floor(bytes / mebibyte)} MiB` : `${(bytes / gibibyte).toFixed(1)} GiB`;
}
