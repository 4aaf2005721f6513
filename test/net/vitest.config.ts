import { defineConfig } from 'vitest/config';
import { patienceMs } from '../support/patience.js';

/** The net by itself: it calls the source, so nothing is built before it. */
export default defineConfig({
  test: {
    include: ['test/crash/*.test.ts'],
    exclude: ['**/*.nightly.test.ts'],
    testTimeout: patienceMs + 60_000,
    hookTimeout: patienceMs + 60_000,
  },
});
