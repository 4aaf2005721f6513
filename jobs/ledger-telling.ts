import { randomUUID } from 'node:crypto';
import { describeError } from '../src/base/safe-error.js';
import type { Config } from '../src/config/load.js';
import { isLedgerFault, LedgerAwayError } from '../src/ledger/errors.js';
import type { ChannelSettings } from '../src/notify/channels/channel-settings.js';
import type { HotelReviewEvent } from '../src/notify/events.js';
import { isSentEnough, isWanted } from '../src/notify/routing.js';
import { explainFailure } from '../src/notify/send-messages.js';
import { clock } from './clock.js';
import { createLocalPathShortener } from './notifications.js';
import type { Terminal } from './terminal.js';

/** Tells people once what is wrong with the ledger. Never rejects. */
export type TellOfLedger = (problem: Error, day?: string) => Promise<void>;

export type LedgerTelling = ReturnType<typeof createLedgerTelling>;

/** How long the channels may take, all at once: what they have not confirmed by then may have arrived. */
const sendMs = 30_000;

/**
 * Tells people directly that a day is not reviewed, not through the ledger, which can't be used: each channel once, and those that did not
 * accept it again the next time, but what may have arrived no more than three times; once more only after a review could use the ledger.
 */
export function createLedgerTelling(
  { notify, proxy, server, ...config }: Config,
  { log, signal, warn }: Terminal,
) {
  const shorten = createLocalPathShortener({ notify, proxy, server, ...config });
  const told = new Set<ChannelSettings>();
  /** How often each channel may have got it, and did not confirm it. */
  const unconfirmed = new Map<ChannelSettings, number>();
  /** What follows a review may fail, too. */
  const reviewed = new Set<string>();
  let id = randomUUID();
  let isLogged = false;
  let telling = Promise.resolve();

  async function send(
    problem: Error,
    day: string | undefined,
    settings: ChannelSettings,
    limit: AbortSignal,
  ): Promise<void> {
    // Loaded only once there is something to tell.
    const { openChannel } = await import('../src/notify/channels/open-channel.js');
    const channel = await openChannel(settings, { proxy, clock, warn });
    try {
      await channel.send(
        {
          ...{ id, ...noticeOf(problem), stage: 'raised', counts: {} },
          incident: `ledger ${id}`,
          ...(day !== undefined && { day }),
          title: `${day === undefined ? 'Nothing is reviewed' : `The review of ${day} failed`}: the ledger can't be used`,
          text: shorten(describeError(problem)),
          ...(server.publicUrl !== undefined && { url: server.publicUrl }),
          raisedAt: clock(),
        },
        limit,
      );
    } finally {
      await channel.close();
    }
  }

  async function tellAll(problem: Error, day: string | undefined): Promise<void> {
    if (!isLogged) log.error({ problem: describeError(problem) }, 'nothing is reviewed');
    isLogged = true;
    const notice = { ...noticeOf(problem), facts: {} };
    const left = notify.filter((channel) => isWanted(notice, channel) && !told.has(channel));
    const limit = AbortSignal.any([signal, AbortSignal.timeout(sendMs)]);
    const tellOne = async (settings: ChannelSettings) => {
      try {
        await send(problem, day, settings, limit);
        told.add(settings);
      } catch (error) {
        const sends =
          (unconfirmed.get(settings) ?? 0) + Number(explainFailure(error, limit.aborted).mayHaveArrived);
        unconfirmed.set(settings, sends);
        if (isSentEnough({ unconfirmed: sends })) told.add(settings);
        if (!signal.aborted) warn(`${settings.name} could not be told: ${describeError(error)}`);
      }
    };
    await Promise.all(left.map(tellOne));
  }

  const tell: TellOfLedger = (problem, day) => {
    const failed = day !== undefined && reviewed.has(day) ? undefined : day;
    telling = telling.then(() => tellAll(problem, failed));
    return telling;
  };

  function worked(): void {
    if (!isLogged) return;
    isLogged = false;
    told.clear();
    unconfirmed.clear();
    id = randomUUID();
  }

  return {
    tell,
    /** Whatever ends a review because of the ledger. */
    notify(event: HotelReviewEvent): Promise<void> | undefined {
      switch (event.type) {
        case 'due-day-failed':
          return isLedgerFault(event.error) ? tell(event.error, event.dueDay.day.iso) : undefined;
        case 'review-broke-off':
          return isLedgerFault(event.error) ? tell(event.error, event.day) : undefined;
        case 'check-failed':
          return isLedgerFault(event.error) ? tell(event.error) : undefined;
        case 'settled':
          if (event.run.state === 'succeeded') reviewed.add(event.run.day);
          return undefined;
        case 'run-opened':
        case 'due-day-ended':
          worked();
          return undefined;
        default:
          return undefined;
      }
    },
    /** Waits until people were told. */
    close: () => telling,
  };
}

function noticeOf(problem: Error) {
  const isRefusal = problem instanceof LedgerAwayError && problem.fault === 'refused';
  return { event: isRefusal ? 'credentials-refused' : 'run-failed', severity: 'critical' } as const;
}
