import type { InitOptions } from '../init-options.js';
import type { SourceKind } from './source-answers.js';

/** The kind of source that an option leaves no doubt about. */
export function impliedKind(options: InitOptions): SourceKind | undefined {
  const { kind, url, query, queryFile, records, pagination, auth } = options;
  if (kind !== undefined) return kind;
  if (url !== undefined) return /^https?:/i.test(url) ? 'http' : 'sql';
  if (query !== undefined || queryFile !== undefined) return 'sql';
  return [records, pagination, auth].some((option) => option !== undefined) ? 'http' : undefined;
}

/** The likeliest kind, by the name of a file. */
export function suggestKind(path = ''): SourceKind {
  if (/\.[cm]?[jt]s$/i.test(path)) return 'module';
  return /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(path) ? 'ndjson' : 'csv';
}
