import { dirname, isAbsolute } from 'node:path';
import { escapePattern } from '../text/foreign-text.js';

interface Places {
  /** Of the configuration file, absolute. */
  readonly folder: string;
  /** Other local paths of the configuration, absolute; they may have placeholders such as `{day}`. */
  readonly paths: readonly string[];
}

/**
 * Shortens the paths of this machine in a text for the network: below the folder of the configuration they become relative to it,
 * and elsewhere only what follows the configured folder is shown.
 */
export function createPathShortener({ folder, paths }: Places): (text: string) => string {
  const others = paths
    .filter((path) => isAbsolute(path))
    .map((path) => dirname(path.replace(/\{.*$/s, 'x')))
    .filter((path) => path !== folder && !path.startsWith(`${folder}/`));
  const shortenings = [
    { path: folder, below: '', itself: '.' },
    ...[...new Set(others)].map((path) => ({ path, below: '…/', itself: '…' })),
  ]
    .filter(({ path }) => path !== '/')
    // The longest first: one folder may lie in another.
    .sort((one, other) => other.path.length - one.path.length)
    .map(({ path, ...shown }) => ({ ...shown, pattern: matchFolder(path) }));
  return (text) =>
    shortenings.reduce(
      (shortened, { pattern, below, itself }) =>
        shortened.replace(pattern, (match) => (match.endsWith('/') ? below : itself)),
      text,
    );
}

/** Matches a folder at the start of a path, with the slash that follows. */
function matchFolder(path: string): RegExp {
  return new RegExp(`(?<![\\w.~/-])${escapePattern(path)}(?:/|(?![\\w.-]))`, 'g');
}
