import { formatLocalInstant } from '../../base/format.js';
import { type Deadline, judgeDeadlines } from '../../notify/deadlines.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning } = findingsOf('clock');

/** Shows which day has to be reviewed next, and by when. */
export function checkDeadline(deadline: Deadline | undefined, timezone: string, now: number): Finding {
  if (deadline === undefined)
    return warning(
      'no day is ever late: nobody is told if one is not reviewed',
      'Say in the setting deadline by when a day must be reviewed, such as "06:00".',
    );
  const { next } = judgeDeadlines({ deadline, timezone, now, countedFrom: now, reviewedDays: [] });
  if (!next) return warning('the setting deadline sets no deadline in the coming month: no day can be late');
  const at = formatLocalInstant(next.at, timezone);
  return ok(`the next deadline is ${at} (${timezone}), for the bookings of ${next.day}`);
}
