/**
 * How long a test waits for what must happen. Reached only when something is broken: a busy machine may be ten times
 * slower, and a limit that is never reached costs nothing.
 */
export const patienceMs = 120_000;
