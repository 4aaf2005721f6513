import { createHeartbeat } from '../src/channels/heartbeat.js';
import type { Config } from '../src/config/load.js';
import { createHeartbeatObserver, type HeartbeatObserver } from '../src/events/heartbeat-observer.js';
import { describeHost } from '../src/http/url.js';
import { clock, random } from './clock.js';
import type { Terminal } from './terminal.js';

/** Tells the heartbeat service how nights went. Connects only once there is something to send. */
export function openHeartbeat(
  { timezone, proxy }: Config,
  heartbeat: NonNullable<Config['heartbeat']>,
  { caution, signal }: Terminal,
): HeartbeatObserver {
  const host = describeHost(heartbeat.url);
  return createHeartbeatObserver({
    heartbeat: createHeartbeat({ ...heartbeat, proxy, random }),
    timezone,
    clock,
    warn: (code) => caution(`the heartbeat could not be sent to ${host} (${code})`),
    stop: signal,
  });
}
