import type { Config } from '../src/config/load.js';
import type { Channel } from '../src/notifications/channel.js';
import { clock } from './clock.js';

/** Opens the configured channels. What they need is loaded only if there are any. */
export async function openChannels(
  { notify, proxy }: Pick<Config, 'notify' | 'proxy'>,
  warn: (message: string) => void,
): Promise<readonly Channel[]> {
  if (notify.length === 0) return [];
  const { openChannel } = await import('../src/channels/open-channel.js');
  return Promise.all(notify.map((settings) => openChannel(settings, { proxy, clock, warn })));
}
