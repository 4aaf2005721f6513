import type { Notify, ReviewEvent, RunName } from '../review/events.js';
import { describeError } from '../text/safe-error.js';
import type { Log } from './log.js';

/** Writes events as JSON lines, with run, day and step where they have one. Events hold no guest data to begin with. */
export function createEventLog(log: Log): Notify {
  return (event) => logEvent(log, event);
}

function logEvent(log: Log, event: ReviewEvent): void {
  switch (event.type) {
    case 'run-opened':
      return log.info(
        {
          ...runFields(event),
          trigger: event.run.trigger,
          token: event.run.token,
          isResumed: event.isResumed,
          topsUp: event.run.topsUp,
        },
        'run opened',
      );
    case 'collecting':
      return log.debug({ ...nameFields(event.run), read: event.read, ...event.progress }, 'collecting');
    case 'source-notice':
      return log.warn({ ...nameFields(event.run), column: event.notice.column }, 'column not in the source');
    case 'collected':
      return log.info(
        {
          ...runFields(event),
          counts: event.run.counts,
          suspects: event.run.suspects,
          steps: event.run.openSteps,
        },
        'collected',
      );
    case 'step-claimed':
      return log.trace(
        { ...nameFields(event.run), step: event.step.name, attempt: event.attempt },
        'step claimed',
      );
    case 'transferring':
      return log.debug(
        {
          ...nameFields(event.run),
          step: event.step.name,
          done: event.done,
          total: event.total,
        },
        'transferring',
      );
    case 'step-ended':
      return logStepEnd(log, event);
    case 'holding-off':
      return log.warn(
        {
          ...nameFields(event.run),
          cause: event.cause,
          until: new Date(event.until).toISOString(),
          code: event.code,
        },
        'holding off',
      );
    case 'stopping':
      return log.warn({ ...(event.run && nameFields(event.run)), graceMs: event.graceMs }, 'stopping');
    case 'queue-away':
      return log.error(
        { queue: event.address, reason: event.reason },
        'queue away: nothing is handed out until it is back',
      );
    case 'working':
      return log.info('working');
    case 'queue-back':
      return log.info({ queue: event.address }, 'queue back');
    case 'watched':
      return log.debug({ ...runFields(event), counts: event.run.counts }, 'watched');
    case 'waiting-for-day':
      return log.info({ day: event.day }, 'waiting: the day is being worked on by another process');
    case 'superseded':
      return log.warn(
        { run: event.runId, step: event.step },
        'superseded: another process has taken it over',
      );
    case 'faulted':
      return log.error(
        { run: event.runId, step: event.step, fault: describeError(event.error) },
        'faulted: it is tried again',
      );
    case 'settled':
      return log[event.run.state === 'failed' ? 'error' : 'info'](
        { ...runFields(event), counts: event.run.counts, failure: event.run.failure },
        'run settled',
      );
  }
}

function logStepEnd(
  log: Log,
  { run, step, attempt, outcome, evidence }: ReviewEvent & { type: 'step-ended' },
): void {
  const { code, httpStatus, statusCode } = evidence;
  // To find no result yet is no news.
  const isExpected = outcome === 'done' || (step.kind === 'await-result' && outcome === 'retry');
  const level = isExpected ? 'debug' : 'warn';
  log[level](
    {
      ...nameFields(run),
      step: step.name,
      attempt,
      outcome,
      code,
      httpStatus,
      statusCode,
    },
    'step ended',
  );
}

function runFields({
  run,
}: {
  readonly run: { readonly id: string; readonly day: string; readonly state: string };
}) {
  return { ...nameFields(run), state: run.state };
}

function nameFields({ id, day }: RunName) {
  return { run: id, day };
}
