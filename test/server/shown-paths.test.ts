import { afterEach, describe, expect, it } from 'vitest';
import { createPathShortener } from '../../jobs/notifications.js';
import { runsOnly, startDesk, stopServers } from '../desk/some-desk.js';
import { someRun } from '../review/some-run.js';

afterEach(stopServers);

const shorten = createPathShortener('/srv/review', [
  '/srv/review/data/ledger.db',
  '/mnt/exports/{day}/bookings.csv',
  '/mnt/exports/archive (old)/x',
  's3://bucket/x',
  '/top',
]);

describe('a text for the network', () => {
  it.each([
    ['no file /srv/review/exports/bookings.csv', 'no file exports/bookings.csv'],
    ['the folder /srv/review is full', 'the folder . is full'],
    ['"archivedTo":"/srv/review/data/archive/2026-11-20"', '"archivedTo":"data/archive/2026-11-20"'],
    ['no file /mnt/exports/2026-11-20/bookings.csv', 'no file …/2026-11-20/bookings.csv'],
    ['(/mnt/exports/archive (old)/x)', '(…/x)'],
    ['both /srv/review/a and /srv/review/b', 'both a and b'],
  ])('names no path of this machine: %s', (text, shown) => {
    expect(shorten(text)).toBe(shown);
  });

  it.each([
    'https://example.com/srv/review/x',
    'VerifyMappings/srv/review/112026',
    '/srv/review2/x',
    '/srv/review-old',
    'sftp://host/mnt/exports/x',
    '/healthz and /top',
  ])('keeps what only looks like one: %s', (text) => {
    expect(shorten(text)).toBe(text);
  });

  it('is all that the server sends: data of a page, report of a run', async () => {
    const message = 'the file /srv/review/exports/bookings-2026-11-20.csv does not exist';
    const run = someRun({
      id: 'r-1',
      day: '2026-11-20',
      state: 'failed',
      failure: { class: 'data', code: 'source-missing', message },
    });
    const { url } = await startDesk({
      ledger: runsOnly([run]),
      shortenPaths: shorten,
    });
    for (const [path, shown] of [
      ['/runs/r-1', 'the file exports/bookings-2026-11-20.csv'],
      ['/days/2026-11-20', 'the file exports/bookings-2026-11-20.csv'],
    ] as const) {
      const text = await (await fetch(`${url}${path}`)).text();
      expect(text, path).toContain(shown);
      expect(text, path).not.toContain('/srv');
    }
  });
});
