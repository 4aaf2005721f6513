import { randomInt } from 'node:crypto';

/** Now, in epoch milliseconds. */
export const clock = (): number => Date.now();

/** The same as a date. */
export const now = (): Date => new Date();

/** A random number, uniform in [0, 1). */
export const random = (): number => randomInt(2 ** 47) / 2 ** 47;
