import type { ReviewEvent } from '../review/events.js';
import { formatBytes, formatCount } from '../text/format.js';
import { print } from '../text/visible.js';
import { createMovingLines, drawBar } from './bars.js';
import { canDraw, type Progress, type ProgressOptions } from './progress.js';
import {
  createLines,
  describe,
  describeMilestone,
  describeOpened,
  describeSuspects,
} from './progress-text.js';

/** The progress of several days at once. */
export interface RangeProgress extends Progress {
  /** Ends the bar of a day. */
  end(day: string, words: string): void;
  /** Writes a line about the range as a whole. */
  say(words: string): void;
}

/** A bar for each day where the terminal can draw, occasional lines elsewhere; each names its day. */
export function createRangeProgress(options: ProgressOptions): RangeProgress {
  return canDraw(options) ? createBars(options) : createDayLines(options);
}

function createDayLines({ stream, clock }: ProgressOptions): RangeProgress {
  const days = new Map<string, Progress['notify']>();
  const write = (text: string) => print(stream, `${text}\n`);
  const linesOf = (day: string) => {
    const lines = days.get(day) ?? createLines({ write: (text) => write(withDay(day, text)), clock });
    days.set(day, lines);
    return lines;
  };
  const general = createLines({ write, clock });
  return {
    notify(event) {
      const day = dayOf(event);
      (day === undefined ? general : linesOf(day))(event);
    },
    end(day, words) {
      days.delete(day);
      write(`${day}: ${words}`);
    },
    say: write,
    stop() {},
  };
}

/** The width of the longest phase. */
const phaseWidth = 'deliver'.length;

function createBars({ stream, clock }: ProgressOptions): RangeProgress {
  const lines = createMovingLines(stream);
  const bars = new Map<string, string>();
  let isStopped = false;

  function say(words: string): void {
    if (!isStopped) lines.say(words);
  }

  function show(day: string, phase: string, total: number, done: number, detail: string): void {
    bars.set(day, `  ${day}  ${phase.padEnd(phaseWidth)} ${drawBar(done, total)}  ${detail}`);
    lines.draw([...bars.values()]);
  }

  function showDelivered(
    event: ReviewEvent & { type: 'run-opened' | 'collected' | 'step-ended' | 'watched' },
  ) {
    const { day, counts } = event.run;
    const done = counts.delivered + counts.refused;
    show(day, 'deliver', counts.accepted, done, `${formatCount(done)} reviewed`);
  }

  return {
    notify(event) {
      if (isStopped) return;
      switch (event.type) {
        case 'run-opened':
          say(describeOpened(event.run, event.isResumed));
          if (event.run.collectedAt !== undefined) showDelivered(event);
          else show(event.run.day, 'collect', 1, 0, '');
          return;
        case 'collecting': {
          const { total, done } = event.progress ?? { total: 1, done: 0 };
          return show(event.run.day, 'collect', total, done, `${formatCount(event.read)} read`);
        }
        case 'collected': {
          const suspects = describeSuspects(event.run);
          if (suspects !== undefined) say(`${event.run.day}: ${suspects}`);
          return showDelivered(event);
        }
        case 'watched':
          return showDelivered(event);
        case 'step-ended': {
          const { day, counts } = event.run;
          const milestone = describeMilestone(event);
          return milestone === undefined
            ? showDelivered(event)
            : show(day, 'deliver', counts.accepted, counts.delivered, milestone);
        }
        case 'transferring':
          return show(event.run.day, event.step.name, event.total, event.done, formatBytes(event.done));
        default: {
          const day = dayOf(event);
          const words = describe(event, clock());
          if (words !== undefined) say(day === undefined ? words : withDay(day, words));
        }
      }
    },
    end(day, words) {
      if (bars.delete(day)) lines.draw([...bars.values()]);
      say(`${day}: ${words}`);
    },
    say,
    stop() {
      lines.erase();
      isStopped = true;
    },
  };
}

function withDay(day: string, words: string): string {
  return words.startsWith(day) ? words : `${day}: ${words}`;
}

function dayOf(event: ReviewEvent): string | undefined {
  if ('run' in event) return event.run?.day;
  return 'day' in event ? event.day : undefined;
}
