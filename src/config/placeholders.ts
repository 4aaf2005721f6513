import { isPlaceholder } from '../base/setting-placeholders.js';
import { isGroup } from '../base/setting-values.js';
import type { Config } from './load.js';
import { formatPath } from './problems.js';

/** The settings, as paths, that still hold a placeholder of `init`. */
export function listPlaceholders({ service, source, s3, file: { sftp } }: Config): readonly string[] {
  const search = (value: unknown, path: readonly string[]): string[] => {
    if (isGroup(value))
      return Object.entries(value).flatMap(([name, member]) => search(member, [...path, name]));
    return [value].flat().some(isPlaceholder) ? [formatPath(path)] : [];
  };
  return [
    ...search(service, ['service']),
    ...search(withoutOptions(source), ['source']),
    ...search({ AWS_ACCESS_KEY_ID: s3.accessKeyId, AWS_SECRET_ACCESS_KEY: s3.secretAccessKey }, []),
    ...search(sftp, ['file', 'sftp']),
  ];
}

/** The options of a bookings module are the module's own business. */
function withoutOptions(source: Config['source']): unknown {
  return source.kind === 'module' ? { ...source, options: {} } : source;
}
