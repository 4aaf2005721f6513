import { type Archive, ArchiveError } from '../../archive/archive.js';
import { measure } from '../../async/measure.js';
import type { CanaryFinder } from '../canary.js';
import { type ErasureReader, followErasures } from '../erasures.js';
import type { AttemptReader } from '../history.js';
import type { BatchReader } from '../ledger.js';
import type { Run } from '../run.js';
import { checkReviewFile } from './file-check.js';
import { describeCalls, describeRun, type Manifest, manifestName } from './manifest.js';
import { renderReviewFile } from './spooled-files.js';

/** What was checked, and what is wrong with it; no fault if it matches the ledger. */
export interface VerifiedItem {
  readonly item: string;
  readonly fault?: string;
  /** What is worth knowing about something that is in order. */
  readonly note?: string;
}

export interface VerifyParts {
  readonly archive: Archive;
  readonly ledger: BatchReader & CanaryFinder & AttemptReader & Pick<ErasureReader, 'listErasedContents'>;
  readonly masterIdColumn: string;
}

/**
 * Checks a run's archive against the ledger, byte by byte: the file as sent, the result, the manifest, and the
 * ledger's own bookings. After guest names were blanked only the manifest can be compared.
 */
export async function verifyRun(parts: VerifyParts, run: Run): Promise<readonly VerifiedItem[]> {
  const { archive, ledger, masterIdColumn } = parts;
  const { id, day, file } = run;
  const { sha256 = '', result } = file ?? {};
  const rows = (file?.rows ?? 0) + (file?.canary === undefined ? 0 : 1);
  const items: VerifiedItem[] = [];
  const add = (item: string, fault: string | undefined) => {
    items.push(fault === undefined ? { item } : { item, fault });
  };
  const inputName = file?.remotePath?.split('/').at(-1) ?? '';
  const manifest = await readManifest(parts, run);
  if (typeof manifest === 'string') return [{ item: manifestName, fault: manifest }];

  add(`${manifestName}, of the file as sent`, compare(findFile(manifest, inputName)?.sha256, sha256));
  if (result)
    add(`${manifestName}, of the result`, compare(findFile(manifest, result.name)?.sha256, result.sha256));
  add(`${manifestName}, of the run`, compareStated(manifest, describeRun(run)));
  items.push(...describeRemovals(run));
  if (run.linesBlanked) return items;

  const calls = describeCalls(await ledger.listAttempts(id, 'trigger'));
  add(`${manifestName}, of the calls`, compareStated(manifest, { calls }));
  // A guest who was erased since then is no longer in the files; their new checksums are in the ledger.
  const erased = await ledger.listErasedContents(id);
  const sumOf = (kept: { readonly name: string; readonly sha256: string }) =>
    followErasures(erased, 'archive', kept);
  for (const kept of manifest.files)
    add(kept.name, await compareKept(archive.read(day, id, kept.name), sumOf(kept)));
  // Whether cells could be empty was a setting of the day it was written, and was checked then.
  const sent = sumOf({ name: inputName, sha256 });
  const expected = { masterIdColumn, rows, sha256: sent, mayBeEmpty: true };
  add(`${inputName}, by the file rules`, await checkKept(archive.read(day, id, inputName), expected));
  const rendered = await measure(renderReviewFile({ ledger, masterIdColumn }, run));
  add("the ledger's bookings, rendered again", compare(rendered.sha256, sent));
  return items;
}

/** What `file.removeAfterDays` did: those files are not missing. */
function describeRemovals({ file }: Run): readonly VerifiedItem[] {
  return (file?.removals ?? []).flatMap(({ path, outcome, at }) =>
    outcome === 'removed'
      ? [{ item: `${path} on the SFTP server`, note: `removed by us at ${new Date(at).toISOString()}` }]
      : [],
  );
}

async function readManifest({ archive }: VerifyParts, { day, id }: Run): Promise<Manifest | string> {
  return unlessUnreadable(async () => {
    const blocks: Buffer[] = [];
    for await (const block of archive.read(day, id, manifestName)) blocks.push(Buffer.from(block));
    try {
      const manifest: unknown = JSON.parse(Buffer.concat(blocks).toString());
      return isManifest(manifest) ? manifest : 'is not a manifest';
    } catch {
      return 'is not JSON';
    }
  });
}

/** Checks only what the code below relies on; the rest is compared. */
function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null || !('files' in value)) return false;
  const { files } = value;
  const names = Array.isArray(files)
    ? files.map((file: { name?: unknown } | null) => file?.name)
    : [undefined];
  return names.every((name) => typeof name === 'string');
}

/** Compares what a manifest states with what is expected. */
function compareStated(manifest: Manifest, expected: Partial<Manifest>): string | undefined {
  const names = Object.keys(expected) as (keyof Manifest)[];
  const recorded = Object.fromEntries(names.map((name) => [name, manifest[name]]));
  return JSON.stringify(recorded) === JSON.stringify(expected) ? undefined : 'differs from the ledger';
}

async function compareKept(content: AsyncIterable<Uint8Array>, sha256: string): Promise<string | undefined> {
  return unlessUnreadable(async () => compare((await measure(content)).sha256, sha256));
}

async function checkKept(
  content: AsyncIterable<Uint8Array>,
  expected: Parameters<typeof checkReviewFile>[1],
): Promise<string | undefined> {
  return unlessUnreadable(async () => {
    const fault = await checkReviewFile(content, expected);
    return fault && `${fault.code} in row ${fault.row}`;
  });
}

/** An unreadable archive file is also a fault of the item. */
async function unlessUnreadable<Found>(look: () => Promise<Found>): Promise<Found | string> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof ArchiveError) return describe(error);
    throw error;
  }
}

const findFile = (manifest: Manifest, name: string) => manifest.files.find((file) => file.name === name);

function compare(found: string | undefined, expected: string): string | undefined {
  if (found === expected) return undefined;
  return `expected the checksum ${expected}, got: ${found ?? 'none'}`;
}

function describe({ code }: ArchiveError): string {
  return code === 'absent' ? 'is not in the archive' : `can't be read (${code})`;
}
