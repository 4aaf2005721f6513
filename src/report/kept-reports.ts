/**
 * In the archive, in place of a day: the pages of days as they were when a run of the day ended, by day, as `RUN-STATE.html`. They
 * name no booking, check-in or guest.
 */
export const reportsFolder = 'reports';
