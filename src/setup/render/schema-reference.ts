import { isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** How a configuration in that folder names the JSON Schema for editors. The line has no way to write a blank in a path. */
export function referToSchema(schemaFile: string, folder: string): string {
  const path = relative(folder, schemaFile);
  if (isAbsolute(path) || /\s/.test(path)) return pathToFileURL(schemaFile).href;
  const written = path.replaceAll(sep, '/');
  return written.startsWith('../') ? written : `./${written}`;
}
