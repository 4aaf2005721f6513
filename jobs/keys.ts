import type { Config } from '../src/config/load.js';
import { createKeyFolder, type KeyFolder } from '../src/keys/key-folder.js';
import type { KmsAccess } from '../src/keys/kms.js';
import { type MasterKeeper, plainKeeper } from '../src/keys/master-key.js';
import { destroyKeys, type KeyDestructionParts } from '../src/review/stored/key-destruction.js';

/** One for each configuration, so that the master key is loaded once. */
const opened = new WeakMap<Config, KeyFolder>();

/** The configured keys; undefined if nothing is encrypted. Nothing is created or loaded before a key is needed. */
export function openKeys(config: Config): KeyFolder | undefined {
  const { keys } = config;
  if (!keys) return undefined;
  const keeper = keys.kms ? findKmsKeeper({ ...keys.kms, proxy: config.proxy }) : plainKeeper;
  const folder = opened.get(config) ?? createKeyFolder({ root: keys.folder, keeper });
  opened.set(config, folder);
  return folder;
}

/** Loads the client of AWS KMS when a master key is needed. */
function findKmsKeeper(access: KmsAccess): MasterKeeper {
  let loaded: Promise<MasterKeeper> | undefined;
  const load = () => {
    loaded ??= import('../src/keys/kms.js').then(({ createKmsKeeper }) => createKmsKeeper(access));
    return loaded;
  };
  return {
    create: async (id) => (await load()).create(id),
    open: async (id, stored) => (await load()).open(id, stored),
  };
}

/** What retention does with keys; undefined if nothing is encrypted. */
export function openKeyDestruction(config: Config, ledger: KeyDestructionParts['ledger']) {
  const keys = openKeys(config);
  return keys && ((before: string) => destroyKeys({ ledger, keys }, before));
}
