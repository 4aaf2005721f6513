import type * as z from 'zod';
import { groupByKind } from '../base/setting-values.js';
import type { BookingSource } from '../booking/source.js';
import type { SourceKind, SourceParts } from './common/kind.js';
import { createFilteredSource } from './common/row-filter.js';
import { csv } from './csv/kind.js';
import { http } from './http/kind.js';
import { module } from './module/kind.js';
import { ndjson } from './ndjson/kind.js';
import { sql } from './sql/kind.js';

/** All kinds of sources. A new kind is a folder and an entry here. */
const kinds = [csv, ndjson, sql, http, module] as const;

/** The schema of the setting `source`. */
export const sourceSchema = groupByKind(listSettings(kinds), 'a group with kind and path, url or query');

export type SourceSettings = z.output<typeof sourceSchema>;
export type SourceKindName = SourceSettings['kind'];

export const sourceKinds: readonly SourceKind<SourceSettings>[] = kinds;

/** The kind of source that the settings are for. */
export function kindOf({ kind }: { readonly kind: SourceKindName }): SourceKind<SourceSettings> {
  const found = sourceKinds.find(({ name }) => name === kind);
  if (found === undefined) throw new RangeError(`the registry has no kind of source ${kind}`);
  return found;
}

/** Opens the source that the settings describe. */
export async function openSource(settings: SourceSettings, parts: SourceParts): Promise<BookingSource> {
  const { where, keep, columns } = settings;
  const wanted = { ...settings, filterColumns: Object.keys(where), extraColumns: Object.values(keep) };
  return createFilteredSource(await kindOf(settings).open(wanted, parts), where, columns);
}

function listSettings<const Kinds extends readonly { readonly settings: unknown }[]>(list: Kinds) {
  return list.map(({ settings }) => settings) as { [Index in keyof Kinds]: Kinds[Index]['settings'] };
}
