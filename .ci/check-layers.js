import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Checks which folder imports which, type-only imports included. The order of the layers is in src/layers.json, lowest first:
 *
 * - a folder of src imports only from layers below its own; `jobs` is the top layer
 * - an island imports only the folders that it names, and only `jobs` imports an island
 * - a narrow room imports only the rooms that it names
 * - no two folders, at any depth, import each other, unless one contains the other
 * - files directly in src, the library's entry point, count as one folder above `sources`
 * - the core imports no libraries except the few that are allowed; its folders of adapters import what they need
 */

const importSpecifier = /(?<![.\w])(?:from|import)\s*\(?\s*'([^'\n]+)'/g;
const entryPoint = 'the library';

/** @returns one line per violation, with file and line number */
export function findViolations(
  { layers, islands, narrow, withoutLibraries, adapters, allowedLibraries },
  files,
) {
  const heights = new Map(layers.flatMap((names, height) => names.map((name) => [name, height])));
  heights.set(entryPoint, heights.get('sources') + 1);
  const violations = new Set();
  const edges = new Map();

  for (const [file, text] of files) {
    const from = layerOf(file);
    const isCore = withoutLibraries.includes(from) && !adapters.some((folder) => isOf(file, `src/${folder}`));
    if (!heights.has(from) && !(from in islands)) {
      violations.add(`${file}: src/layers.json does not list ${from}`);
      continue;
    }
    for (const match of text.matchAll(importSpecifier)) {
      const [, specifier] = match;
      const place = `${file}:${text.slice(0, match.index).split('\n').length}`;
      if (!specifier.startsWith('.')) {
        if (isCore && !allowedLibraries.some((name) => isOf(specifier, name)))
          violations.add(`${place}: ${from} imports the library ${specifier}`);
        continue;
      }
      const target = posix.join(posix.dirname(file), specifier);
      const to = layerOf(target);
      const folders = [posix.dirname(file), posix.dirname(target)];
      if (!isOf(folders[0], folders[1]) && !isOf(folders[1], folders[0])) edges.set(folders.join(' '), place);
      if (from === to) continue;
      if (from in islands) {
        if (!islands[from].includes(to)) violations.add(`${place}: ${from} imports ${to}; it is an island`);
      } else if (to in islands) {
        if (from !== 'jobs') violations.add(`${place}: ${from} imports the island ${to}`);
      } else if (!(narrow[from]?.includes(to) ?? true))
        violations.add(`${place}: ${from} imports ${to}; it is narrow`);
      else if (!(heights.get(to) < heights.get(from)))
        violations.add(`${place}: ${from} imports ${to}, which is not in a lower layer`);
    }
  }
  for (const [edge, place] of edges) {
    const [from, to] = edge.split(' ');
    const back = edges.get(`${to} ${from}`);
    if (back && from < to) violations.add(`${place} and ${back}: ${from} and ${to} import each other`);
  }
  return [...violations];
}

function layerOf(file) {
  const [top, folder, ...rest] = file.split('/');
  if (top === 'jobs') return 'jobs';
  return rest.length > 0 ? folder : entryPoint;
}

function isOf(specifier, library) {
  return specifier === library || specifier.startsWith(`${library}/`);
}

function readFiles(root) {
  return ['src', 'jobs'].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [relative(root, path).replaceAll('\\', '/'), readFileSync(path, 'utf8')];
      }),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const rules = JSON.parse(readFileSync(join(root, 'src/layers.json'), 'utf8'));
  const files = readFiles(root);
  const violations = findViolations(rules, files);
  for (const violation of violations) console.error(violation);
  console.log(`layers: ${files.length} files checked, ${violations.length} violations`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
