/** Where the compiled modules of `src` and `jobs` are, each a file, for tests that use some of them in another process. */
export const compiled = new URL('../../compiled/', import.meta.url).href;
