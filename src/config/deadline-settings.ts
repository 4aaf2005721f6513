import * as z from 'zod';
import { isCalendarDay } from '../booking/business-day.js';
import { heartbeatKinds } from '../channels/heartbeat-forms.js';
import { weekdays } from '../notifications/deadlines.js';
import {
  confidentiality,
  expected,
  group,
  oneOf,
  textThat,
  timeOfDayOrNone,
  webAddress,
} from '../settings/values.js';

const forms = 'a time of day such as "06:00", or a group with default';
const time = () => timeOfDayOrNone('06:00');
const ofWeekday = Object.fromEntries(
  weekdays.map((weekday, index) => {
    const next = weekdays[(index + 1) % weekdays.length];
    return [
      weekday,
      time()
        .exactOptional()
        .describe(`By when ${title(weekday)}'s bookings must be reviewed, on ${title(next)}.`),
    ];
  }),
) as Record<(typeof weekdays)[number], z.ZodExactOptional<z.ZodString>>;

/** By when the bookings of the day before must be reviewed. */
export const deadline = z.union(
  [
    time(),
    group(
      {
        default: time().describe('By when the bookings of all other days must be reviewed.'),
        ...ofWeekday,
        exceptions: z
          .record(
            textThat(isCalendarDay, 'a day such as "2026-12-25"'),
            time(),
            expected('a group of days, such as "2026-12-25": none'),
          )
          .default({})
          .describe(
            'By business day, instead of the above: `"2026-12-25": none` sets no deadline for the bookings of that day.',
          ),
      },
      forms,
    ),
  ],
  expected(forms),
);

function title(weekday = ''): string {
  return `${weekday.slice(0, 1).toUpperCase()}${weekday.slice(1)}`;
}

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
