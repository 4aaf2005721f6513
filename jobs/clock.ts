import { randomInt } from 'node:crypto';

/** The instant, in epoch milliseconds. */
export const clock = (): number => Date.now();

/** Uniform in [0, 1). */
export const random = (): number => randomInt(2 ** 47) / 2 ** 47;
