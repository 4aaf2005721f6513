import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects at once what is no longer referenced. Native parts close what belonged to it in a later turn of the event loop. */
export const collectGarbage: () => void = runInNewContext('gc');
