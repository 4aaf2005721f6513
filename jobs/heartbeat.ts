import { createHeartbeat } from '../src/channels/heartbeat.js';
import { createHeartbeatObserver, type HeartbeatObserver } from '../src/cli/heartbeat-observer.js';
import type { Config } from '../src/config/load.js';
import { describeHost } from '../src/http/url.js';
import { clock, random } from './clock.js';

export interface HeartbeatParts {
  readonly warn: (message: string) => void;
  /** The process is asked to stop. */
  readonly stop: AbortSignal;
}

/** Connects only once there is something to send. */
export function openHeartbeat(
  { timezone, proxy }: Config,
  heartbeat: NonNullable<Config['heartbeat']>,
  { warn, stop }: HeartbeatParts,
): HeartbeatObserver {
  const host = describeHost(heartbeat.url);
  return createHeartbeatObserver({
    heartbeat: createHeartbeat({ ...heartbeat, proxy, random }),
    timezone,
    clock,
    warn: (code) => warn(`the heartbeat could not be sent to ${host} (${code})`),
    stop,
  });
}
