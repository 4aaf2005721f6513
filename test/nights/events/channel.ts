import { type ChannelMode, channelModes } from '../channels.js';
import type { EventKind, OfDay } from './event.js';

/** One channel of people works from now on, or does not. */
export interface ChannelChange extends OfDay {
  readonly kind: 'channel';
  readonly mode: ChannelMode;
}

export const channel: EventKind<ChannelChange> = {
  weights: { following: 1 },
  kinds: channelModes.map((mode) => `channel ${mode}`),
  make: ({ day }, { pick }) => ({ kind: 'channel', day, mode: pick(channelModes) }),
  kindsOf: ({ mode }) => [`channel ${mode}`],
  tell: ({ mode }) => `the second channel ${mode} from now on`,

  async live({ mode }, { day, journal, channels }) {
    channels.setMode(mode);
    journal.push({ kind: 'channel', day, mode });
    return undefined;
  },
};
