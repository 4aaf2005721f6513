import fc from 'fast-check';
import { seed } from './seed.js';

/** A set-up file of every project. */
fc.configureGlobal({ seed });
