import type { BusinessDay } from '../../booking/business-day.js';
import { SourceError } from '../../booking/source.js';
import { listFieldColumns } from '../../sources/common/columns.js';
import type { SourceParts } from '../../sources/common/kind.js';
import type { Sample } from '../../sources/common/sample.js';
import { createValueTest } from '../../sources/common/where-condition.js';
import { kindOf, type SourceSettings } from '../../sources/registry.js';
import { type Finding, findingsOf } from './finding.js';
import {
  adviseOnUnconfirmed,
  describeUnconfirmed,
  findUnconfirmed,
  type Unconfirmed,
} from './unconfirmed.js';

interface SampleLook {
  readonly settings: SourceSettings;
  readonly parts: SourceParts;
  readonly day: BusinessDay;
  readonly signal: AbortSignal;
  /** Ends the look without a result. */
  readonly enough: AbortSignal;
}

/**
 * Looks at the first records of a day. Undefined if the source can't be read in time, which is for others to say.
 *
 * @throws the signal's reason if it aborts
 */
export async function takeSample({
  settings,
  parts,
  day,
  signal,
  enough,
}: SampleLook): Promise<Sample | undefined> {
  try {
    const sample = await kindOf(settings).openSample(settings, parts);
    return await sample(day, AbortSignal.any([signal, enough]));
  } catch (error) {
    signal.throwIfAborted();
    if (enough.aborted || error instanceof SourceError) return undefined;
    throw error;
  }
}

/** Whether some of its records are cancelled by a column that the settings don't name. */
export function lookForUnconfirmed(
  found: Sample | undefined,
  settings: SourceSettings,
): Unconfirmed | undefined {
  if (found === undefined) return undefined;
  return findUnconfirmed(pickReviewed(found, settings), listUnused(found, settings), settings.where);
}

export function warnOfUnconfirmed(found: Unconfirmed | undefined): readonly Finding[] {
  return found === undefined
    ? []
    : [findingsOf('source').warning(describeUnconfirmed(found), adviseOnUnconfirmed(found))];
}

/** The records that `source.where` takes. */
function pickReviewed({ columns, records }: Sample, { where }: SourceSettings): Sample['records'] {
  const tests = Object.entries(where).map(([column, condition]) => {
    // Databases fold the case of names.
    const name = columns.find((one) => one === column) ?? columns.find((one) => fold(one) === fold(column));
    return { name: name ?? column, isMet: createValueTest(condition) };
  });
  return records.filter((record) => tests.every(({ name, isMet }) => isMet(record.get(name))));
}

function listUnused({ columns: names }: Sample, { columns, where, keep }: SourceSettings): readonly string[] {
  const fields = listFieldColumns(columns).flatMap((one) => one?.column ?? []);
  const used = new Set([...fields, ...Object.keys(where), ...Object.values(keep)].map(fold));
  return names.filter((name) => !used.has(fold(name)) && names.indexOf(name) === names.lastIndexOf(name));
}

function fold(name: string): string {
  return name.toLowerCase();
}
