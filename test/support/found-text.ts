import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files under a folder whose bytes contain the text. */
export function findText(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isFile() && readFileSync(path).includes(text) ? [path] : [];
  });
}
