import type { BookingState, MappingState } from '../ledger/case.js';
import type { Severity } from '../ledger/notice.js';
import type { Run, RunState } from '../ledger/run.js';
import type { Judgement } from '../review/day/good-day.js';
import { hasUnknownVerdicts } from '../review/verdicts/day-verdicts.js';
import { Html, html } from '../text/html.js';

/** What a page says about a day. `missing`: it is over and has no run; `not-due`: no run is expected, or not yet. */
export type DayMark = Judgement | 'missing' | 'not-due';
export type Mark = DayMark | RunState | MappingState | BookingState;

interface Look {
  /** A class of the style. */
  readonly colour: 'good' | 'bad' | 'busy' | 'wait' | 'faint';
  /** Lines on a 16 by 16 square, so that the state is recognisable without its colour. */
  readonly lines: string;
  readonly words: string;
  readonly meaning: string;
}

const check = 'M2.5 8.5l4 4 7-9';
const warning = 'M8 1.8L15 14H1zM8 6.3v3.4M8 11.6v.3';
const circle = 'M8 2a6 6 0 1 0 .01 0';
const tray = 'M2.5 14h11';

const looks: Readonly<Record<Mark, Look>> = {
  good: {
    colour: 'good',
    lines: check,
    words: 'good',
    meaning: 'a complete day; all verdicts are known',
  },
  sent: {
    colour: 'busy',
    lines: 'M2 8h11M8.5 3.5L13 8l-4.5 4.5',
    words: 'sent',
    meaning: 'a complete day; some verdicts are not known here',
  },
  attention: { colour: 'bad', lines: warning, words: 'needs attention', meaning: 'somebody has to act' },
  unfinished: {
    colour: 'wait',
    lines: 'M3 8h.01M8 8h.01M13 8h.01',
    words: 'not finished',
    meaning: 'being worked on, or incomplete',
  },
  missing: {
    colour: 'bad',
    lines: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
    words: 'missing',
    meaning: 'the day is over and has no run',
  },
  'not-due': { colour: 'faint', lines: 'M6 8h4', words: 'not due', meaning: 'no run is expected yet' },
  collecting: {
    colour: 'busy',
    lines: `M8 2v8M4.5 6.5L8 10l3.5-3.5${tray}`,
    words: 'collecting',
    meaning: 'reads the bookings of the source',
  },
  delivering: {
    colour: 'busy',
    lines: `M8 10V2M4.5 5.5L8 2l3.5 3.5${tray}`,
    words: 'delivering',
    meaning: 'sends the bookings to the service',
  },
  'awaiting-result': {
    colour: 'wait',
    lines: `${circle}M8 4.5V8l2.5 1.8`,
    words: 'awaiting result',
    meaning: 'everything is delivered; the result has not arrived',
  },
  succeeded: { colour: 'good', lines: check, words: 'succeeded', meaning: 'ended with all verdicts known' },
  failed: { colour: 'bad', lines: warning, words: 'failed', meaning: 'stopped; it keeps its work' },
  cancelled: {
    colour: 'faint',
    lines: `${circle}M3.8 3.8l8.4 8.4`,
    words: 'cancelled',
    meaning: 'somebody abandoned it',
  },
  open: { colour: 'bad', lines: circle, words: 'open', meaning: 'nobody has acted on it yet' },
  reported: {
    colour: 'busy',
    lines: 'M3.5 14V2.5h9L10 6l2.5 3.5h-9',
    words: 'reported',
    meaning: 'somebody told the service',
  },
  escalated: {
    colour: 'bad',
    lines: 'M3.5 8L8 3.5 12.5 8M3.5 13L8 8.5l4.5 4.5',
    words: 'escalated',
    meaning: 'reported, and still not corrected',
  },
  corrected: {
    colour: 'good',
    lines: check,
    words: 'corrected',
    meaning: 'the mapping moved; bookings that were made before have not',
  },
  dismissed: {
    colour: 'faint',
    lines: `${circle}M3.8 3.8l8.4 8.4`,
    words: 'dismissed',
    meaning: 'somebody decided that it is right',
  },
  resolved: { colour: 'good', lines: check, words: 'resolved', meaning: 'somebody settled the booking' },
  left: {
    colour: 'bad',
    lines: warning,
    words: 'left',
    meaning: 'the stay is over, and nobody resolved the booking',
  },
};

/** The mark of a run. A run that succeeded is marked as such only if its verdicts are known and nothing is wrong. (Design 11.) */
export function markOfRun({ state, counts }: Pick<Run, 'state' | 'counts'>, hasFewBookings: boolean): Mark {
  if (state !== 'succeeded') return state;
  if (hasFewBookings || counts.refused > 0 || counts.affected || counts.unanswered) return 'attention';
  return hasUnknownVerdicts({ counts }) ? 'sent' : 'succeeded';
}

/** The CSS class that colours it. */
export function colourOf(mark: Mark): Look['colour'] {
  return looks[mark].colour;
}

export function nameMark(mark: Mark): string {
  return looks[mark].words;
}

/** The sign and words beside it. */
export function renderMark(mark: Mark, words = nameMark(mark)): Html {
  return html`<span class="mark ${colourOf(mark)}">${drawSign(mark, 'aria-hidden="true"')} ${words}</span>`;
}

/** How bad a problem is. */
export function renderSeverity(severity: Severity): Html {
  switch (severity) {
    case 'critical':
      return renderMark('attention', severity);
    case 'warning':
      return renderMark('unfinished', severity);
    case 'info':
      return renderMark('not-due', severity);
  }
}

/** What each sign means. */
export function renderLegend(marks: readonly Mark[]): Html {
  return html`<ul class="legend">${marks.map(
    (mark) => html`<li>${renderMark(mark)}<span class="faint">: ${looks[mark].meaning}</span></li>`,
  )}</ul>`;
}

/** The lines of these signs once, for a page that draws each of them hundreds of times with `drawShape`. */
export function defineShapes(marks: readonly Mark[]): Html {
  return html`<svg class="hidden" aria-hidden="true">${marks.map(
    (mark) => html`<symbol id="${mark}" viewBox="0 0 16 16"><path d="${looks[mark].lines}"/></symbol>`,
  )}</svg>`;
}

/** A sign of `defineShapes`, without a text. */
export function drawShape(mark: Mark): Html {
  return html`<svg><use href="#${mark}"/></svg>`;
}

function drawSign(mark: Mark, attributes: string): Html {
  return html`<svg ${new Html(attributes)} viewBox="0 0 16 16"><path d="${looks[mark].lines}"/></svg>`;
}
