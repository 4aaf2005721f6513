import { styleText } from 'node:util';
import { hasUnexpectedCount, type Run, type RunState } from '../review/run.js';
import { hasUnknownVerdicts } from '../review/verdicts/day-verdicts.js';

/** Colours a text for a terminal, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string;

type Colour = 'green' | 'red' | 'yellow' | 'blue' | 'gray';

export const noColours: Paint = (_colour, text) => text;

interface PaintOptions {
  readonly stream: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
}

/** Colours on a terminal that has them, unless NO_COLOR is set (https://no-color.org). */
export function createPaint({ stream, env }: PaintOptions): Paint {
  const isAsked = stream.isTTY === true && env.TERM !== 'dumb' && (env.NO_COLOR ?? '') === '';
  return isAsked ? (colour, text) => styleText(colour, text, { validateStream: false }) : noColours;
}

const colours: Readonly<Record<Exclude<RunState, 'succeeded'>, Colour>> = {
  collecting: 'blue',
  delivering: 'blue',
  'awaiting-result': 'yellow',
  failed: 'red',
  cancelled: 'gray',
};

/** Colours the state of a run. Green is only for a run whose verdicts are all known, with as many bookings as usual. (Design 11.) */
export function paintState(
  paint: Paint,
  run: Pick<Run, 'state' | 'counts' | 'volume' | 'expected' | 'collectedAt'>,
  text: string,
): string {
  if (run.state !== 'succeeded') return paint(colours[run.state], text);
  return hasUnknownVerdicts(run) || run.volume || hasUnexpectedCount(run) ? text : paint('green', text);
}
