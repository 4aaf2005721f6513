import { expect, it } from 'vitest';
import type { ExportEvent } from '../../src/mappings/events.js';
import { createProgress } from '../../src/notify/progress.js';
import { captureStream } from '../support/captured-stream.js';

const set = { id: 'g-1', files: [] };
const megabyte = 1_000_000;
const downloading = (done: number, name = 'a.csv'): ExportEvent => ({
  type: 'downloading',
  name,
  done: done * megabyte,
  total: 100 * megabyte,
});

function start(isTTY: boolean) {
  let now = 0;
  const { stream, text } = captureStream({ isTTY });
  const progress = createProgress({ stream, clock: () => now });
  return {
    text,
    progress,
    later(milliseconds: number, event: ExportEvent) {
      now += milliseconds;
      progress.notify(event);
    },
  };
}

it('is a line per event and occasional lines for a download, where there is no terminal', () => {
  const { text, later } = start(false);
  later(0, { type: 'waiting', folder: 'out', newerThan: Date.UTC(2026, 10, 20) });
  later(0, { type: 'sighted', set });
  later(0, downloading(1));
  later(5_000, downloading(30));
  later(5_000, downloading(51));
  later(0, { type: 'held-off', reason: 'download a.csv: the connection was lost', delayMs: 2_000 });
  later(9_000, downloading(60));
  later(1_000, downloading(70));
  later(0, { type: 'archived', name: 'a.csv' });
  expect(text().split('\n')).toEqual([
    'looking in out for an export from 2026-11-20 00:00:00Z on',
    '  export g-1 is there; waiting until it no longer changes',
    '  a.csv: 51.0 MB of 100.0 MB, 5.0 MB/s',
    '  download a.csv: the connection was lost; again in 2.0 s',
    // What arrived before the connection was lost does not count towards the rate.
    '  a.csv: 70.0 MB of 100.0 MB, 10.0 MB/s',
    '  a.csv is in the archive',
    '',
  ]);
});
