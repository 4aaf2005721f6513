import * as z from 'zod';
import {
  confidentiality,
  expected,
  group,
  oneOf,
  textThat,
  timeOfDayOrNone,
  webAddress,
} from '../base/setting-values.js';
import { isCalendarDay } from '../booking/business-day.js';
import { heartbeatKinds } from '../notify/channels/heartbeat-forms.js';

const forms = 'a time of day such as "06:00", or a group with at';
const time = () => timeOfDayOrNone('06:00');

/** By when the bookings of the day before must be reviewed. */
export const deadline = z.union(
  [
    time(),
    group(
      {
        at: time().describe('By when the bookings of all other days must be reviewed.'),
        exceptions: z
          .record(
            textThat(isCalendarDay, 'a day such as "2026-12-25"'),
            time(),
            expected('a group of days, such as "2026-12-25": none'),
          )
          .default({})
          .describe(
            'By business day, instead of `at`: `"2026-12-25": none` sets no deadline for the bookings of that day.',
          ),
      },
      forms,
    ),
  ],
  expected(forms),
);

/** A service that raises an alarm if it does not hear how the night went. */
export const heartbeat = group(
  {
    url: webAddress('https://hc-ping.com/…')
      .describe('The address that the service shows for its check, monitor or push. It is a secret.')
      .register(confidentiality, { level: 'secret' }),
    kind: oneOf(...heartbeatKinds)
      .default('healthchecks')
      .describe('The format of the calls: that of Healthchecks, Uptime Kuma or Cronitor.'),
  },
  'a group with url and kind',
);
