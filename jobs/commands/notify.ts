import { randomUUID } from 'node:crypto';
import { formatDuration } from '../../src/base/format.js';
import { describeError, UsageError } from '../../src/base/safe-error.js';
import type { Config } from '../../src/config/load.js';
import { ChannelError, type Message } from '../../src/notify/channel.js';
import type { ChannelSettings } from '../../src/notify/channels/channel-settings.js';
import { openChannel } from '../../src/notify/channels/open-channel.js';
import type { App } from '../app.js';
import { clock } from '../clock.js';
import { type AnyCommand, command } from '../command.js';
import { exitCode } from '../exit-code.js';

const test = command({
  summary: 'send a test message through each configured channel, or one of them',
  usage: '[channel]',
  arguments: (channel: string | undefined) => ({ channel }),
  examples: `
Exits with 0 if every receiver accepted the message. With PagerDuty, it opens an
incident and resolves it.

Examples:
  hotel-review notify test         through every channel
  hotel-review notify test ops     through the channel with that name`,

  async run(app, { channel }) {
    // An unavailable ledger prevents no test.
    await app.look({ action: 'notify-test', subject: channel }).catch((error: unknown) => {
      app.warn(`warning: the audit trail can't record this: ${describeError(error)}`);
    });
    const channels = await tryChannels(app, channel, (trial) => app.say(describeTrial(trial)));
    const ok = channels.every(({ accepted }) => accepted);
    app.report({ ok, channels });
    return ok ? exitCode.done : exitCode.failed;
  },
});

/** The outcome of testing a channel. If it was accepted, code and message are null. */
interface Trial {
  readonly name: string;
  readonly kind: ChannelSettings['kind'];
  readonly accepted: boolean;
  /** Such as `http-404`; null for an unexpected error. */
  readonly code: string | null;
  readonly message: string | null;
  readonly durationMs: number;
}

function describeTrial({ name, kind, accepted, message, durationMs }: Trial): string {
  const what = kind === 'pagerduty' ? 'triggered and resolved' : 'accepted';
  return accepted ? `${name}: ${what} (${kind}, ${formatDuration(durationMs)})` : `${message}`;
}

/** Sends a test message through each channel, or the one with that name. @throws UsageError if there is none */
export async function tryChannels(
  { config: { notify, proxy, server }, warn, signal }: App,
  wanted: string | undefined,
  onTrial?: (trial: Trial) => void,
): Promise<readonly Trial[]> {
  const channels = notify.filter(({ name }) => wanted === undefined || name === wanted);
  if (channels.length === 0) throw new UsageError(explainNoChannel(notify, wanted));

  async function attempt(settings: ChannelSettings): Promise<Trial> {
    const { name, kind } = settings;
    const startedAt = clock();
    const fault = await findFault(settings);
    const trial = { name, kind, accepted: fault === undefined, durationMs: clock() - startedAt };
    return { ...trial, ...(fault ?? { code: null, message: null }) };
  }

  async function findFault(settings: ChannelSettings) {
    try {
      const channel = await openChannel(settings, { proxy, clock, warn });
      try {
        for (const message of writeTestMessages(settings.kind, server.publicUrl))
          await channel.send(message, signal);
      } finally {
        await channel.close();
      }
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      return { code: error instanceof ChannelError ? error.code : null, message: describeError(error) };
    }
  }

  const trials = channels.map(attempt);
  const ended = Promise.allSettled(trials);
  try {
    for (const trial of trials) onTrial?.(await trial);
    return await Promise.all(trials);
  } finally {
    await ended;
  }
}

function explainNoChannel(notify: Config['notify'], wanted: string | undefined): string {
  if (notify.length === 0) return 'no channel is configured; list them in the setting notify';
  return `unknown channel ${wanted}; configured are: ${notify.map(({ name }) => name).join(', ')}`;
}

/** PagerDuty would keep the incident open, so it gets the end of the incident, too. */
function writeTestMessages(kind: ChannelSettings['kind'], url: string | undefined): readonly Message[] {
  const incident = `test-${randomUUID()}`;
  const write = (stage: Message['stage']): Message => ({
    id: `${incident}-${stage}`,
    event: 'test',
    stage,
    severity: 'info',
    incident,
    title: 'Test of hotel-review: this channel works',
    text: 'It was sent by `hotel-review notify test` or the desk. Nothing happened, and there is nothing to do.',
    ...(url !== undefined && { url }),
    counts: {},
    raisedAt: clock(),
  });
  return kind === 'pagerduty' ? [write('raised'), write('recovered')] : [write('raised')];
}

export default {
  place: ['running', 3],
  summary: 'test the channels that tell people what happened',
  examples: `
Example:
  hotel-review notify test   does every channel work?`,
  commands: { test },
} satisfies AnyCommand;
