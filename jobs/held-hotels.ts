import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { codeOf } from '../src/text/safe-error.js';
import { UsageError } from '../src/text/usage-error.js';

const endOfCell = /[,;\t|]/;
/** An id, perhaps within quotes. */
const quotedId = /^"?(\d{1,16})"?$/;

/**
 * Reads the ids of the master hotels that the caller already has, one per line: alone, as the first cell of a CSV (the first
 * line may be a header), or as the `ServiceId` of an NDJSON file of new hotels. Blank lines are skipped.
 *
 * @param file its name as it was typed, for messages, and its absolute path
 * @throws UsageError for a file that can't be read, or a line without an id
 */
export async function readHeldHotels({
  name,
  path,
}: {
  readonly name: string;
  readonly path: string;
}): Promise<ReadonlySet<number>> {
  const held = new Set<number>();
  let number = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(path, 'utf8') })) {
      number += 1;
      const text = number === 1 ? line.replace(/^\uFEFF/, '') : line;
      if (text.trim() === '') continue;
      const id = readId(text);
      if (id !== undefined) held.add(id);
      else if (number > 1)
        throw new UsageError(
          `--held: line ${number} of ${name} does not begin with a master hotel's id, a whole number from 1 to 2^53-1`,
        );
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`--held: ${name} can't be read (${codeOf(error) ?? 'unknown'})`);
  }
  if (held.size === 0) throw new UsageError(`--held: ${name} holds no master hotel's id`);
  return held;
}

function readId(line: string): number | undefined {
  const id = line.trimStart().startsWith('{') ? readRecord(line) : Number(readFirstCell(line));
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 1 ? id : undefined;
}

function readFirstCell(line: string): string | undefined {
  const [cell = ''] = line.trim().split(endOfCell, 1);
  return quotedId.exec(cell.replace(/\s/g, ''))?.[1];
}

function readRecord(line: string): unknown {
  try {
    return (JSON.parse(line) as { readonly ServiceId?: unknown }).ServiceId;
  } catch {
    return undefined;
  }
}
