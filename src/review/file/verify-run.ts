import { measure } from '../../base/content.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { RunKey } from '../../ledger/runs.js';
import { listResultFiles } from '../../rules/review-file.js';
import type { Run } from '../../rules/run.js';
import { type Archive, ArchiveError } from '../../storage/archive.js';
import { describeErased } from '../every-run.js';
import { describeCalls, describeRun, type Manifest, manifestName, readManifest } from './archive-run.js';
import { masterIdColumnOf, renderReviewFile } from './file-attempt.js';
import { checkReviewFile } from './file-check.js';

/** What was checked, and what is wrong with it; no fault if it matches the ledger. */
export interface VerifiedItem {
  readonly item: string;
  readonly fault?: string;
  /** What is worth knowing about something that is in order. */
  readonly note?: string;
}

interface VerifyParts {
  readonly archive: Pick<Archive, 'list' | 'read'>;
  readonly ledger: ReadOnlyLedger;
}

/**
 * Checks a run's archive against the ledger, byte by byte: the file as sent, the result, the manifest, and the
 * ledger's own bookings. After guest names were blanked or a guest was erased, only the manifest can be compared.
 */
export async function verifyRun(parts: VerifyParts, run: Run): Promise<readonly VerifiedItem[]> {
  const { archive, ledger } = parts;
  const { id, day, file } = run;
  const { sha256 = '', rows = 0 } = file ?? {};
  const inputName = nameInput(run);
  const { manifest, items: stated } = await verifyManifest(parts, run);
  const items = [...stated];
  const add = (item: string, fault: string | undefined) => items.push(toItem(item, fault));
  if (!manifest) return items;
  items.push(...describeRemovals(run));
  if (run.linesBlanked) return items;

  const calls = describeCalls(await ledger.steps.listAttempts(id, 'trigger'));
  add(`${manifestName}, of the calls`, compareStated(manifest, { calls }));
  const erased = describeErased(run);
  if (erased !== undefined) return [...items, ...(await verifyErased(parts, run, manifest, erased))];
  for (const file of manifest.files) add(file.name, await verifyArchived(parts, run, file));
  // Whether cells could be empty was a setting of the day it was written, and was checked then.
  const expected = { masterIdColumn: masterIdColumnOf(run), rows, sha256, mayBeEmpty: true };
  const checked = await unlessUnreadable(async () => {
    const fault = await checkReviewFile(archive.read(day, id, inputName), expected);
    return fault && `${fault.code} in row ${fault.row}`;
  });
  add(`${inputName}, by the file rules`, checked);
  const rendered = await measure(renderReviewFile(ledger, run));
  add("the ledger's bookings, rendered again", compare(rendered.sha256, sha256));
  return items;
}

/** Compares what an archived manifest says with the ledger; no manifest if it can't be read. */
export async function verifyManifest(
  { archive }: Omit<VerifyParts, 'ledger'>,
  run: Run,
): Promise<{ readonly manifest?: Manifest; readonly items: readonly VerifiedItem[] }> {
  const { sha256 = '' } = run.file ?? {};
  const manifest = await parseManifest(archive, run);
  if (typeof manifest === 'string') return { items: [{ item: manifestName, fault: manifest }] };
  const ofResults = listResultFiles(run.file).map(({ name, sha256 }, index) =>
    toItem(
      `${manifestName}, ${index === 0 ? 'of the result' : `of ${name}`}`,
      compare(findFile(manifest, name)?.sha256, sha256),
    ),
  );
  return {
    manifest,
    items: [
      toItem(
        `${manifestName}, of the file as sent`,
        compare(findFile(manifest, nameInput(run))?.sha256, sha256),
      ),
      ...ofResults,
      toItem(`${manifestName}, of the run`, compareStated(manifest, describeRun(run))),
    ],
  };
}

const toItem = (item: string, fault: string | undefined): VerifiedItem => ({
  item,
  ...(fault !== undefined && { fault }),
});

/** The files are gone; one that is still there is what an interrupted erasure has left. */
async function verifyErased(
  { archive }: VerifyParts,
  { id, day }: Run,
  { files }: Manifest,
  erased: string,
): Promise<readonly VerifiedItem[]> {
  const there = await archive.list(day, id);
  return files.map(({ name: item }) =>
    there.includes(item)
      ? { item, fault: 'is still there, although a guest was erased: `guest erase` again' }
      : { item, note: erased },
  );
}

/** What is wrong with a file in the archive. */
export async function verifyArchived(
  { archive }: Omit<VerifyParts, 'ledger'>,
  { id, day }: RunKey,
  { name, sha256 }: { readonly name: string; readonly sha256: string },
): Promise<string | undefined> {
  return unlessUnreadable(async () => compare((await measure(archive.read(day, id, name))).sha256, sha256));
}

function nameInput({ file }: Run): string {
  return file?.remotePath?.split('/').at(-1) ?? '';
}

/** What `file.removeAfterDays` did: those files are not missing. */
function describeRemovals({ file }: Run): readonly VerifiedItem[] {
  return (file?.removals ?? []).flatMap(({ path, outcome, at }) =>
    outcome === 'removed'
      ? [{ item: `${path} on the SFTP server`, note: `removed by us at ${new Date(at).toISOString()}` }]
      : [],
  );
}

async function parseManifest(archive: VerifyParts['archive'], run: Run): Promise<Manifest | string> {
  return unlessUnreadable(async () => {
    const bytes = await readManifest(archive, run);
    try {
      const manifest: unknown = JSON.parse(bytes.toString());
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
function compareStated(
  manifest: Manifest,
  expected: { readonly [Name in keyof Manifest]?: Manifest[Name] | undefined },
): string | undefined {
  const names = Object.keys(expected);
  const recorded = Object.fromEntries(names.map((name) => [name, manifest[name as keyof Manifest]]));
  return JSON.stringify(recorded) === JSON.stringify(expected) ? undefined : 'differs from the ledger';
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
