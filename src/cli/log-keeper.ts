import type { Duty } from '../schedule/duties.js';
import type { KeeperEvent, NotifyKeeper } from '../schedule/keeper-event.js';
import { describeError } from '../text/safe-error.js';
import type { Log } from './log.js';

/** Writes what the keeper of the schedule does as JSON lines, with the day where there is one. */
export function createKeeperLog(log: Log): NotifyKeeper {
  return (event) => logEvent(log, event);
}

function logEvent(log: Log, event: KeeperEvent): void {
  switch (event.type) {
    case 'duty-begun':
      return log.info(dutyFields(event), 'duty begun');
    case 'duty-ended':
      return log.info(dutyFields(event), 'duty ended');
    case 'day-busy':
      return log.info(dutyFields(event), 'the day is being worked on by another process');
    case 'duty-failed':
      return log.error(
        { ...dutyFields(event), fault: describeError(event.error) },
        'duty failed: it is looked at again',
      );
    case 'look-failed':
      return log.error(
        { fault: describeError(event.error) },
        'what is owed could not be read: it is tried again',
      );
    case 'slot-untold':
      // Where several processes share a schedule, each slot is told to one of them: that is as it should be.
      return log.debug(
        { slot: event.slot.toISOString() },
        'slot not told by the schedule: looking at what is owed',
      );
  }
}

function dutyFields({ duty }: { readonly duty: Duty }) {
  return { day: duty.day.iso, duty: duty.kind };
}
