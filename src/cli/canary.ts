import type { Canary } from '../review/canary.js';
import { type CanaryStyle as CanaryWords, canaryToJson, describeCanary } from '../review/canary.js';
import { wrapText } from '../text/format.js';

export interface CanaryStyle extends CanaryWords {
  readonly now: number;
}

/** What happened to a canary, within 80 columns. */
export function renderCanary(canary: Canary, style: CanaryStyle): string[] {
  return wrapText(describeCanary(canaryToJson(canary, style.now), style));
}

/** The canaries of other runs that have just turned out not to be named in time. */
export function renderMissedCanaries(canaries: readonly Canary[], style: CanaryStyle): string {
  return canaries
    .map((canary) => `${canary.day}: run ${canary.runId}\n${renderCanary(canary, style).join('\n')}\n`)
    .join('');
}

/** What `show` says about the reference of a canary. */
export function renderShownCanary(canary: Canary, style: CanaryStyle): string {
  return [
    `${canary.reference}: the canary of run ${canary.runId} of ${canary.day}, no booking`,
    ...wrapText(
      'It was sent to see whether the service names an agreed, wrong pair. No count and no list has it.',
    ),
    ...renderCanary(canary, style),
    '',
  ].join('\n');
}
