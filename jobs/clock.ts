import { randomInt } from 'node:crypto';

/** Now, in epoch milliseconds. */
export const clock = (): number => Date.now();

/** A random number, uniform in [0, 1). */
export const random = (): number => randomInt(2 ** 47) / 2 ** 47;
