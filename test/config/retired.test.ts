import { describe, expect, it } from 'vitest';
import { complain } from './writing.js';

const http = { kind: 'http', url: 'https://pms.test/bookings?day={day}' };

describe('A retired setting', () => {
  it.each([
    [
      { source: { ...http, pagination: { kind: 'page', parameter: 'p', behindLast: 'empty' } } },
      'source.pagination.behindLast: is called afterLastPage now',
    ],
    [
      { source: http, mappings: { fillServiceId: true } },
      'mappings.fillServiceId: no longer exists: let the source name the ServiceId of each booking',
    ],
    [
      { source: { kind: 'sql', url: 'sqlite:bookings.db', query: 'SELECT :day' } },
      'source.url: SQLite is no longer read as a source: write a small bookings module (kind: module) instead',
    ],
    [
      { source: http, watch: { review: true } },
      'watch: remove it: nothing is sent again when a mapping moves; its stays are in the cases',
    ],
    [
      { notify: [{ kind: 'slack', url: 'https://hooks.slack.com/services/T0', quietHours: '22:00-07:00' }] },
      'notify[0].quietHours: no longer exists: set minimum, the lowest severity that the channel gets',
    ],
    [{ deadline: { default: '06:00' } }, 'deadline: has one time, at, for all days, and exceptions by date'],
    [
      { deadline: { at: '06:00', sunday: '09:00' } },
      'deadline: has one time, at, for all days, and exceptions by date',
    ],
    [
      { guestNames: 'pseudonym' },
      "guestNames: pseudonym no longer exists: set omit, which by file puts the booking's reference in the name's column",
    ],
    [
      { hook: { secret: ['a', 'b'], token: 'c' }, workers: { runsAtOnce: 3 } },
      'workers.runsAtOnce: no longer exists: it is always 2',
      'hook.token: no longer exists: callers that cannot sign send hook.secret as their bearer token',
      'hook.secret: is one text, no longer a list',
    ],
    [
      { mappings: { limit: 5_000, cron: '0 1 * * *', suspectDays: 3 }, export: { pollSeconds: 5 } },
      'mappings.limit: no longer exists: it is always 1,000',
      'mappings.suspectDays: no longer exists: it always has the value that was its default',
      'export.pollSeconds: is file.resultPollSeconds now',
    ],
  ])('%j is refused with the one sentence that says what to use instead', (settings, ...sentences) => {
    expect(complain(settings)).toEqual(sentences);
  });

  it('does not hide what else is wrong', () => {
    const pagination = { kind: 'page', parameter: 'p', behindLast: 'empty', afterLastPage: 'never' };
    expect(complain({ source: { ...http, pagination } })).toEqual([
      'source.pagination.behindLast: is called afterLastPage now',
      expect.stringMatching(/^source\.pagination\.afterLastPage: expected /),
    ]);
  });
});
