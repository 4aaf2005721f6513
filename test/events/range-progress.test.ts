import { afterEach, describe, expect, it } from 'vitest';
import { createProgress } from '../../src/notify/progress.js';
import type { ReviewEvent } from '../../src/review/events.js';
import { captureStream } from '../support/captured-stream.js';
import { collected, collecting, opened, stepEnded } from './review-events.js';

const started: { stop(): void }[] = [];
const [one, two] = ['2026-11-17', '2026-11-18'];

afterEach(() => {
  for (const progress of started.splice(0)) progress.stop();
});

function start({ isTTY = false } = {}) {
  let now = 0;
  const { stream, text, lines, screen } = captureStream({ isTTY });
  const { notify, followDays } = createProgress({ stream, clock: () => now });
  const progress = { notify, ...followDays() };
  started.push(progress);
  return {
    progress,
    text,
    lines,
    screen,
    later(milliseconds: number, day: string, event: ReviewEvent) {
      now += milliseconds;
      progress.notify(ofDay(day, event));
    },
  };
}

function ofDay(day: string, event: ReviewEvent): ReviewEvent {
  return 'run' in event && event.run ? ({ ...event, run: { ...event.run, day } } as ReviewEvent) : event;
}

describe('the progress of many days where there is no terminal', () => {
  it('is occasional lines, each with its day', () => {
    const { later, progress, lines } = start();
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
});

describe('the progress of many days on a terminal', () => {
  it('is a bar per day, replaced by a line when the day is over', () => {
    const { later, progress, screen } = start({ isTTY: true });
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
