import { afterEach, describe, expect, it } from 'vitest';
import type { ExportEvent } from '../../src/mappings/events.js';
import { createProgress } from '../../src/notify/progress.js';
import type { ReviewEvent } from '../../src/review/events.js';
import { someRun } from '../review/some-run.js';
import { captureStream } from '../support/captured-stream.js';
import {
  collected,
  collecting,
  deliveringRun,
  fileStepEnded,
  opened,
  step,
  stepEnded,
  transferring,
} from './review-events.js';

const run = { id: 'r', day: '2026-11-20' };
const notice: ReviewEvent = {
  type: 'source-notice',
  run,
  notice: { kind: 'absent-column', column: 'guest' },
};
const started: { stop(): void }[] = [];

afterEach(() => {
  for (const progress of started.splice(0)) progress.stop();
});

describe('progress where there is no terminal', () => {
  it('is a line for each important event, and occasional lines for the rest', () => {
    const { later, lines } = start();
    later(0, opened());
    later(0, notice);
    later(9_999, collecting(100, 10));
    later(1, collecting(200, 20));
    later(500, collecting(300, 30));
    later(0, collected(1_200));
    later(9_999, stepEnded(500, 1_200));
    later(1, stepEnded(1_000, 1_200));
    later(0, { type: 'holding-off', cause: 'asked', run, until: 60_000, code: 'http-429' });
    later(0, { type: 'step-claimed', run, step, attempt: 1 });
    later(0, { type: 'stopping', run, graceMs: 3_000 });
    later(0, { type: 'settled', run: someRun() });
    expect(lines()).toEqual([
      '2026-11-20: starting run 20261120-k3f9xq7d by body',
      'the source has no column guest: nothing of it is kept (source.keep)',
      'collecting: 200 records read',
      'collected: 1,200 bookings in 3 steps',
      'delivering: 1,000 of 1,200 bookings',
      'the service asked for a pause (http-429): waiting 39.5 s',
      'stopping: waiting at most 3.0 s for the steps in progress',
    ]);
  });

  it('says once what it waits for, until that changes', () => {
    const { later, lines } = start();
    for (let look = 0; look < 3; look += 1)
      later(60_000, fileStepEnded('await-result', 'retry', 'result-absent'));
    later(60_000, fileStepEnded('await-result', 'retry', 'result-growing'));
    later(60_000, fileStepEnded('await-result', 'retry', 'result-growing'));
    later(60_000, stepEnded(500, 1_200));
    later(60_000, fileStepEnded('await-result', 'overdue', 'result-growing'));
    later(0, fileStepEnded('await-result'));
    expect(lines()).toEqual([
      'waiting for the result (result-absent)',
      'waiting for the result (result-growing)',
      'delivering: 500 of 1,200 bookings',
      'await-result: done',
    ]);
  });
});

describe('progress on a terminal', () => {
  it('comes back after a message', () => {
    const { later, progress, screen } = start({ isTTY: true });
    later(0, opened());
    later(0, notice);
    later(1_000, collecting(500, 250));
    later(1_000, collected(1_000));
    later(1_000, stepEnded(250, 1_000));
    later(0, { type: 'holding-off', cause: 'asked', run, until: 33_000, code: 'http-429' });
    later(1_000, stepEnded(500, 1_000));
    progress.stop();
    expect(screen().filter((line) => line.includes('deliver'))).toHaveLength(1);
    const text = screen().join('\n');
    expect(text).toContain('  the source has no column guest: nothing of it is kept (source.keep)');
    expect(text).toMatch(/collect █+░* 100% {2}500 read {2}500\/s/);
    expect(text).toContain('  the service asked for a pause (http-429): waiting 30.0 s');
    expect(screen().at(-1)).toMatch(/^ {2}deliver █{12}░{12} 50% {2}500 reviewed {2}250\/s/);
  });

  it('starts where an earlier process ended, and counts only new work in its rate', () => {
    const { later, progress, screen } = start({ isTTY: true });
    later(0, opened(deliveringRun(600_000, 1_000_000), true));
    later(10_000, stepEnded(605_000, 1_000_000));
    progress.stop();
    expect(screen()[0]).toBe('2026-11-20: resuming run 20261120-k3f9xq7d by body');
    expect(screen()[1]).toMatch(/^ {2}deliver █{14,15}░+ 6[01]% {2}605,000 reviewed {2}500\/s/);
  });

  it('is a bar for a transfer, which batches posted meanwhile don’t replace', () => {
    const { later, progress, screen } = start({ isTTY: true });
    later(0, opened(deliveringRun(0, 2_000)));
    later(0, fileStepEnded('write'));
    later(0, transferring(0, 4_000_000));
    later(1_000, transferring(1_000_000, 4_000_000));
    later(0, stepEnded(500, 2_000));
    later(1_000, transferring(4_000_000, 4_000_000));
    expect(screen().join()).not.toContain('500 reviewed');
    later(0, fileStepEnded('upload'));
    later(0, stepEnded(1_000, 2_000));
    later(1_000, stepEnded(1_500, 2_000));
    progress.stop();
    const [, written, upload, uploaded, deliver] = screen();
    expect(written).toBe('  write: done');
    expect(upload).toBe(`  upload ${'█'.repeat(24)} 100%  4.0 MB  2.0 MB/s`);
    expect(uploaded).toBe('  upload: done');
    expect(deliver).toMatch(/^ {2}deliver █{18}░{6} 75% {2}1,500 reviewed {2}500\/s/);
  });

  it('shows once what a file run waits for, above the bar of the posted batches', () => {
    const { later, progress, screen, text } = start({ isTTY: true });
    later(0, fileStepEnded('trigger'));
    for (let look = 0; look < 3; look += 1)
      later(60_000, fileStepEnded('await-result', 'retry', 'result-absent'));
    later(0, stepEnded(500, 1_000));
    expect(text()).toContain('500 reviewed');
    later(60_000, fileStepEnded('await-result', 'retry', 'result-absent'));
    later(0, fileStepEnded('await-result'));
    progress.stop();
    const shown = screen();
    expect(shown.slice(0, 2)).toEqual(['  trigger: done', '  waiting for the result (result-absent)']);
    expect(shown.slice(2)).toEqual(['  await-result: done']);
  });

  it('shows an empty day as done', () => {
    const { later, progress, screen } = start({ isTTY: true });
    later(0, opened());
    later(0, { type: 'collecting', run, read: 0 });
    later(0, collected(0));
    progress.stop();
    expect(screen().at(-1)).toContain(' 100% ');
  });

  it('shows nothing more once it has stopped', () => {
    const { later, progress, text } = start({ isTTY: true });
    later(0, opened());
    later(0, collected(1_000));
    progress.stop();
    const shown = text();
    later(0, stepEnded(500, 1_000));
    expect(text()).toBe(shown);
  });
});

const [one, two] = ['2026-11-17', '2026-11-18'];

describe('the progress of many days', () => {
  it('is occasional lines, each with its day, where there is no terminal', () => {
    const { lines, followDays } = start();
    const { later, ...progress } = followDays();
    later(0, one, opened());
    later(0, two, opened());
    later(9_999, one, collecting(100, 10));
    later(1, one, collecting(200, 20));
    later(0, two, collecting(300, 30));
    later(0, two, collecting(400, 40));
    later(0, one, collected(1_200));
    later(10_000, two, stepEnded(500, 1_000));
    progress.end(one, 'succeeded, 1,200 delivered');
    progress.say('2026-11-19: waiting');
    expect(lines()).toEqual([
      '2026-11-17: starting run 20261120-k3f9xq7d by body',
      '2026-11-18: starting run 20261120-k3f9xq7d by body',
      '2026-11-17: collecting: 200 records read',
      '2026-11-18: collecting: 300 records read',
      '2026-11-17: collected: 1,200 bookings in 3 steps',
      '2026-11-18: delivering: 500 of 1,000 bookings',
      '2026-11-17: succeeded, 1,200 delivered',
      '2026-11-19: waiting',
    ]);
  });

  it('is a bar per day on a terminal, replaced by a line when the day is over', () => {
    const { screen, followDays } = start({ isTTY: true });
    const { later, ...progress } = followDays();
    later(0, one, opened());
    later(0, two, opened());
    later(0, one, collecting(500, 250));
    later(0, two, collected(1_000));
    later(0, two, stepEnded(500, 1_000));
    progress.say('2026-11-19: waiting');
    expect(screen().slice(-3)).toEqual([
      '2026-11-19: waiting',
      `  2026-11-17  collect ${'█'.repeat(6)}${'░'.repeat(18)} 25%  500 read`,
      `  2026-11-18  deliver ${'█'.repeat(12)}${'░'.repeat(12)} 50%  500 reviewed`,
    ]);
    progress.end(one, 'succeeded, 500 delivered');
    progress.say('more words');
    expect(screen().slice(-3)).toEqual([
      '2026-11-17: succeeded, 500 delivered',
      'more words',
      `  2026-11-18  deliver ${'█'.repeat(12)}${'░'.repeat(12)} 50%  500 reviewed`,
    ]);
    progress.end(two, 'failed');
    progress.stop();
    expect(screen().at(-1)).toBe('2026-11-18: failed');
  });
});

const set = { id: 'g-1', files: [] };
const megabyte = 1_000_000;
const downloading = (done: number, name = 'a.csv'): ExportEvent => ({
  type: 'downloading',
  name,
  done: done * megabyte,
  total: 100 * megabyte,
});

it('progress of an export is a line per event and occasional lines for a download, where there is no terminal', () => {
  const { lines, later } = start();
  later(0, { type: 'waiting', folder: 'out', newerThan: Date.UTC(2026, 10, 20) });
  later(0, { type: 'sighted', set });
  later(0, downloading(1));
  later(5_000, downloading(30));
  later(5_000, downloading(51));
  later(0, { type: 'held-off', reason: 'download a.csv: the connection was lost', delayMs: 2_000 });
  later(9_000, downloading(60));
  later(1_000, downloading(70));
  later(0, { type: 'archived', name: 'a.csv' });
  expect(lines()).toEqual([
    'looking in out for an export from 2026-11-20 00:00:00Z on',
    '  export g-1 is there; waiting until it no longer changes',
    '  a.csv: 51.0 MB of 100.0 MB, 5.0 MB/s',
    '  download a.csv: the connection was lost; again in 2.0 s',
    // What arrived before the connection was lost does not count towards the rate.
    '  a.csv: 70.0 MB of 100.0 MB, 10.0 MB/s',
    '  a.csv is in the archive',
  ]);
});

function start({ isTTY = false } = {}) {
  let now = 0;
  const { stream, text, lines, screen } = captureStream({ isTTY });
  const progress = createProgress(stream, () => now);
  started.push(progress);
  return {
    ...{ progress, text, lines, screen },
    /** An event this many milliseconds after the previous one. */
    later(milliseconds: number, event: ReviewEvent | ExportEvent) {
      now += milliseconds;
      progress.notify(event);
    },
    /** The same of several days. */
    followDays() {
      const days = progress.followDays();
      started.push(days);
      return {
        ...days,
        later(milliseconds: number, day: string, event: ReviewEvent) {
          now += milliseconds;
          const run = 'run' in event && event.run && { ...event.run, day };
          progress.notify({ ...event, ...(run && { run }) } as ReviewEvent);
        },
      };
    },
  };
}
