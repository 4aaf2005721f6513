import { noticeEventNames } from '../../src/rules/notice.js';
import { notifySettings } from './channels.js';

/** Whoever cleans up removes files with names that are older. */
export const guestNameDays = 30;

/** The configuration of every night, but for the ledger. */
export const settings = {
  timezone: 'Europe/Madrid',
  service: { baseUrl: 'http://127.0.0.1:1/', apiKey: 'key', accountId: 'account' },
  source: { kind: 'csv', path: 'bookings-{day}.csv' },
  volume: { shareOfUsual: 0 },
  delivery: 'file',
  deadline: '06:00',
  guestNameDays,
  notify: notifySettings(noticeEventNames),
  hashKey: 'a key of at least sixteen characters',
  body: { batchSize: 3 },
  file: {
    sftp: { host: '127.0.0.1', username: 'agency', password: 'secret', hostKey: `SHA256:${'A'.repeat(43)}` },
    maxPostedShare: 1,
    resultPollSeconds: 3_600,
  },
};
