import fc from 'fast-check';
import { usualSeed } from '../support/seed.js';

/**
 * Properties are tried on the same values each time: a score that differs without a change says nothing. Nobody reads what a
 * mutant was found with, so it is not made small.
 */
fc.configureGlobal({ seed: usualSeed, endOnFailure: true });
