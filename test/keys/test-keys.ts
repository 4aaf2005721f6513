import { createKeyFolder, type KeyFolder } from '../../src/keys/key-folder.js';
import { plainKeeper } from '../../src/keys/master-key.js';

/** Keys in a folder, as another process would open them. */
export function openTestKeys(root: string): KeyFolder {
  return createKeyFolder({ root, keeper: plainKeeper });
}
