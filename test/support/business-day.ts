/** The business day of the tests. */
export const day = '2026-11-20';
