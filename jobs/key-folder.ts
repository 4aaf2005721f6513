import type { Config } from '../src/config/load.js';
import { createKeyFolder, type KeyFolder } from '../src/keys/key-folder.js';
import { destroyKeys, type KeyDestructionParts } from '../src/review/stored/key-destruction.js';

/** One for each configuration, so that each key is read once. */
const opened = new WeakMap<Config, KeyFolder>();

/** The configured keys; undefined if nothing is encrypted. Nothing is created or read before a key is needed. */
export function openKeys(config: Config): KeyFolder | undefined {
  if (config.keys === undefined) return undefined;
  const folder = opened.get(config) ?? createKeyFolder(config.keys);
  opened.set(config, folder);
  return folder;
}

/** What retention does with keys; undefined if nothing is encrypted. */
export function openKeyDestruction(config: Config, ledger: KeyDestructionParts['ledger']) {
  const keys = openKeys(config);
  return keys && ((before: string) => destroyKeys({ ledger, keys }, before));
}
