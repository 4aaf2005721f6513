/** The nightly tests take their time. */
export const isNightly = process.env.HOTEL_REVIEW_TESTS === 'nightly';
