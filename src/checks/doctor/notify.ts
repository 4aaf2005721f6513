import { formatCountOf, formatDuration } from '../../base/format.js';
import { checkOfLedger, findingsOf } from '../check.js';

const { ok, warning } = findingsOf('notify');

/** A message that nobody tried to send waits for the next run, or `serve`. */
const longWaitMs = 3_600_000;

/** Who is told, and which messages wait or were given up. Sends nothing: `notify test` does. */
export const messages = checkOfLedger('notify', async ({ notices }, { config, clock }) => {
  const { givenUp, perhapsReceived } = await notices.countMessages();
  const waiting = await notices.listWaiting(clock() - longWaitMs);
  const names = config.notify.map(({ name }) => name);
  return [
    ...(names.length > 0 ? [ok(`channels: ${names.join(', ')}`)] : []),
    ...waiting.map(({ channel, messages, since, lastCode }) => {
      const last = lastCode === undefined ? '' : `; the last try: ${lastCode}`;
      const age = formatDuration(clock() - since);
      return warning(
        `${formatCountOf(messages, 'message')} for ${channel} not confirmed yet, the oldest for ${age}${last}`,
        names.includes(channel)
          ? 'Try the channel with notify test. The next run, or serve, sends what is pending.'
          : 'notify has no channel of that name any more: they are given up after three days.',
      );
    }),
    ...(givenUp + perhapsReceived > 0
      ? [
          warning(
            `${formatCountOf(givenUp, 'message')} given up after three days, ${formatCountOf(perhapsReceived, 'message')} perhaps received`,
            'Ask people whether they were told, and try the channels with notify test.',
          ),
        ]
      : []),
  ];
});
