import { type Html, html } from '../base/html.js';
import type { BookingState, MappingState } from '../rules/case.js';
import type { DayMark, Judgement } from '../rules/describe-day.js';
import type { Severity } from '../rules/notice.js';
import type { RunState } from '../rules/run.js';

export type Mark = DayMark | RunState | MappingState | BookingState;

const circle = 'M8 2a6 6 0 1 0 .01 0';
const tray = 'M2.5 14h11';

/** Lines on a 16 by 16 square, so that the state is recognisable without its colour. */
const signs = {
  check: 'M2.5 8.5l4 4 7-9',
  warning: 'M8 1.8L15 14H1zM8 6.3v3.4M8 11.6v.3',
  arrow: 'M2 8h11M8.5 3.5L13 8l-4.5 4.5',
  dots: 'M3 8h.01M8 8h.01M13 8h.01',
  cross: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  dash: 'M6 8h4',
  down: `M8 2v8M4.5 6.5L8 10l3.5-3.5${tray}`,
  up: `M8 10V2M4.5 5.5L8 2l3.5 3.5${tray}`,
  clock: `${circle}M8 4.5V8l2.5 1.8`,
  circle,
  struck: `${circle}M3.8 3.8l8.4 8.4`,
  flag: 'M3.5 14V2.5h9L10 6l2.5 3.5h-9',
  ranks: 'M3.5 8L8 3.5 12.5 8M3.5 13L8 8.5l4.5 4.5',
};

const incomplete = 'being worked on, or incomplete';

/** The class of the style that colours each, its sign, its words unless these are its name, and a meaning for the legend of days. */
const looks: Readonly<
  Record<
    Mark,
    {
      readonly colour: 'good' | 'bad' | 'busy' | 'wait' | 'faint';
      readonly sign: keyof typeof signs;
      readonly words?: string;
      readonly meaning?: string;
    }
  >
> = {
  good: { colour: 'good', sign: 'check', meaning: 'a complete day; all verdicts are known' },
  sent: { colour: 'busy', sign: 'arrow', meaning: 'a complete day; some verdicts are not known here' },
  attention: { colour: 'bad', sign: 'warning', words: 'needs attention', meaning: 'somebody has to act' },
  unfinished: { colour: 'wait', sign: 'dots', words: 'not finished', meaning: incomplete },
  missing: { colour: 'bad', sign: 'cross', meaning: 'the day is over and has no run' },
  'not-due': { colour: 'faint', sign: 'dash', words: 'not due' },
  collecting: { colour: 'busy', sign: 'down' },
  delivering: { colour: 'busy', sign: 'up' },
  'awaiting-result': { colour: 'wait', sign: 'clock', words: 'awaiting result' },
  succeeded: { colour: 'good', sign: 'check' },
  failed: { colour: 'bad', sign: 'warning' },
  cancelled: { colour: 'faint', sign: 'struck' },
  open: { colour: 'bad', sign: 'circle' },
  reported: { colour: 'busy', sign: 'flag' },
  escalated: { colour: 'bad', sign: 'ranks' },
  corrected: { colour: 'good', sign: 'check' },
  dismissed: { colour: 'faint', sign: 'struck' },
  resolved: { colour: 'good', sign: 'check' },
  left: { colour: 'bad', sign: 'warning' },
};

/** The mark of a run. One that succeeded is marked as such only if it is good. */
export function markOfRun(run: { readonly state: RunState; readonly judgement: Judgement }): Mark {
  return run.state !== 'succeeded' || run.judgement === 'good' ? run.state : run.judgement;
}

/** The CSS class that colours it. */
export function colourOf(mark: Mark) {
  return looks[mark].colour;
}

export function nameMark(mark: Mark): string {
  return looks[mark].words ?? mark;
}

/** The sign and words beside it. */
export function renderMark(mark: Mark, words = nameMark(mark)): Html {
  return html`<span class="mark ${colourOf(mark)}"><svg aria-hidden="true" viewBox="0 0 16 16">${drawLines(mark)}</svg> ${words}</span>`;
}

const markOfSeverity = { critical: 'attention', warning: 'unfinished', info: 'not-due' } as const;

/** How bad a problem is. */
export function renderSeverity(severity: Severity): Html {
  return renderMark(markOfSeverity[severity], severity);
}

/** What each sign of a day means. */
export function renderLegend(marks: readonly DayMark[]): Html {
  return html`<ul class="legend">${marks.map(
    (mark) => html`<li>${renderMark(mark)}<span class="faint">: ${looks[mark].meaning}</span></li>`,
  )}</ul>`;
}

/** The lines of these signs once, for a page that draws each of them hundreds of times with `drawShape`. */
export function defineShapes(marks: readonly Mark[]): Html {
  return html`<svg class="hidden" aria-hidden="true">${marks.map(
    (mark) => html`<symbol id="${mark}" viewBox="0 0 16 16">${drawLines(mark)}</symbol>`,
  )}</svg>`;
}

/** A sign of `defineShapes`, without a text. */
export function drawShape(mark: Mark): Html {
  return html`<svg><use href="#${mark}"/></svg>`;
}

function drawLines(mark: Mark): Html {
  return html`<path d="${signs[looks[mark].sign]}"/>`;
}
