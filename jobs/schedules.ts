import type { Log } from '../src/cli/log.js';
import type { Config } from '../src/config/load.js';
import { createCronerSchedule } from '../src/schedule/croner.js';
import type { Schedule } from '../src/schedule/schedule.js';
import type { Slots } from '../src/schedule/slots.js';
import { describeError } from '../src/text/safe-error.js';

/** The nightly schedule: on Redis where there is one, so that a slot reaches one of many processes. */
export async function openSchedule({ queue }: Config, slots: Slots, log: Log): Promise<Schedule> {
  switch (queue.kind) {
    case 'in-process':
      return createCronerSchedule(slots);
    case 'redis': {
      const { createBullmqSchedule } = await import('../src/schedule/bullmq-scheduler.js');
      const { connectorTo } = await import('../src/schedule/redis-connections.js');
      return createBullmqSchedule({
        slots,
        connect: connectorTo(queue.url),
        onTrouble: (error) =>
          log.warn({ fault: describeError(error) }, 'the schedule on Redis is out of reach'),
      });
    }
  }
}
