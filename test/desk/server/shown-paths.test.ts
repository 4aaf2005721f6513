import { describe, expect, it } from 'vitest';
import { createPathShortener } from '../../../jobs/notifications.js';
import { openRun, openTemporaryLedger } from '../../review/temporary-ledger.js';
import { now, startDesk } from '../some-desk.js';

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
  ])('names no path of this machine: %s', (text, shown) => {
    expect(shorten(text)).toBe(shown);
  });

  it.each([
    'https://example.com/srv/review/x',
    '/srv/review2/x',
    'sftp://host/mnt/exports/x',
    '/healthz and /top',
  ])('keeps what only looks like one: %s', (text) => {
    expect(shorten(text)).toBe(text);
  });

  it('is all that the server sends: data of a page, report of a run', async () => {
    const message = 'the file /srv/review/exports/bookings-2026-11-20.csv does not exist';
    const ledger = await openTemporaryLedger(() => now);
    const right = await openRun(ledger, '2026-11-20');
    const failure = { class: 'data', code: 'source-missing', message } as const;
    await ledger.runs.settle(right, { state: 'failed', failure, at: now });
    const { url } = await startDesk({ ledger, shortenPaths: shorten });
    for (const path of [`/runs/${right.runId}`, '/days/2026-11-20']) {
      const text = await (await fetch(`${url}${path}`)).text();
      expect(text, path).toContain('the file exports/bookings-2026-11-20.csv');
      expect(text, path).not.toContain('/srv');
    }
  });
});
