/**
 * Joins a path below the root to the root with exactly one slash. An empty root is the folder that the server starts in.
 *
 * @throws RangeError for a path that could lead elsewhere: a leading slash, a `..`, a backslash or NUL.
 */
export function joinToRoot(root: string, path: string): string {
  if (path.startsWith('/') || /[\\\0]/.test(path) || path.split('/').includes('..')) {
    throw new RangeError(`not a path below the SFTP root: ${JSON.stringify(path)}`);
  }
  const base = root.replace(/\/+$/, '');
  if (path === '') return base || (root === '' ? '.' : '/');
  return base === '' && root === '' ? path : `${base}/${path}`;
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
