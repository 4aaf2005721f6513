import { type DeliveryKind, isActive, type Run } from './run.js';

export interface DayRequest {
  readonly mode: 'run' | 'replay';
  /** A delivery that was asked for in so many words; otherwise a new run takes the configured one. */
  readonly delivery?: DeliveryKind | undefined;
  readonly reason?: string | undefined;
}

export type Opening =
  | { readonly kind: 'new'; readonly replaces?: string }
  | { readonly kind: 'resume'; readonly run: Run }
  | { readonly kind: 'already-done'; readonly run: Run }
  | { readonly kind: 'usage-error'; readonly message: string };

/**
 * Decides what a request means for a day whose latest run is known. Called under the right to work on the day, so
 * that an active run here is one whose owner is gone.
 */
export function decideOpening(latest: Run | undefined, { mode, delivery, reason }: DayRequest): Opening {
  if (!latest || latest.state === 'cancelled') return { kind: 'new' };
  const isUnfinished = isActive(latest) || latest.state === 'failed';
  if (mode === 'replay') {
    if (!isUnfinished) return { kind: 'new' };
    if (reason !== undefined) return { kind: 'new', replaces: latest.id };
    return {
      kind: 'usage-error',
      message:
        `run ${latest.id} of ${latest.day} is unfinished (${latest.state}): \`run --day ${latest.day}\` goes on with it; ` +
        'to give it up and start anew, say why with --reason TEXT',
    };
  }
  if (!isUnfinished) return { kind: 'already-done', run: latest };
  if (delivery !== undefined && delivery !== latest.delivery) {
    return {
      kind: 'usage-error',
      message:
        `run ${latest.id} of ${latest.day} is unfinished and delivers by ${latest.delivery}, not by ${delivery}: ` +
        `leave --delivery out to go on, or \`replay ${latest.day} --delivery ${delivery} --reason TEXT\` to start anew`,
    };
  }
  return { kind: 'resume', run: latest };
}
