import PostalMime from 'postal-mime';
import { expect, it } from 'vitest';
import { createBusinessDay, instantAt } from '../../src/booking/business-day.js';
import { useFastClock } from '../support/fast-clock.js';
import { prepareFileDay } from '../support/file-day.js';
import { type FileCall, parseRecords } from '../support/file-service.js';
import { refusal, success } from '../support/http-stand-in.js';
import { type MadeBooking, makeBookings, toCsv } from '../support/made-bookings.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { startSmtpServer } from '../support/smtp-server.js';
import { useSftpServer } from '../support/use-servers.js';
import {
  accepting,
  type ReceivedNotice,
  startWebhookReceiver,
  unavailable,
} from '../support/webhook-receiver.js';

const server = useSftpServer(sandboxSftp);

/** In Madrid the clocks change in the night to March 28. */
const timezone = 'Europe/Madrid';
const usualCount = 60;

/** How the day of a night is found by its run. */
type Source = 'good' | 'broken' | 'empty' | 'truncated' | 'missing' | 'one-provider' | 'few';
type Result = 'whole' | 'incomplete' | 'none';

type Action =
  /** The source is as it should be, the result too, and somebody runs the day. */
  | { readonly does: 'repair'; readonly day: number }
  /** Somebody reviews a day again, and breaks the export first. */
  | { readonly does: 'replay-broken'; readonly day: number }
  | { readonly does: 'cancel'; readonly day: number }
  /** The deadline gets an exception. */
  | { readonly does: 'except'; readonly day: number }
  /** The receiver of the webhook accepts messages again. */
  | { readonly does: 'receiver-returns' }
  /** Some process checks: a run of a day that is good. */
  | { readonly does: 'accept'; readonly day: number }
  | { readonly does: 'look' };

interface Night {
  /** The business day, in March. */
  readonly day: number;
  readonly source?: Source;
  readonly result?: Result;
  /** The receiver of the webhook accepts nothing from this night on. */
  readonly receiverLeaves?: true;
  /** The service refuses the key. */
  readonly isRefused?: true;
  /** No run starts in this night; the machine may be off until the next one. */
  readonly isOff?: 'night' | 'all';
  /** What the receiver is told by the run at 03:00, and by a check at 08:05. */
  readonly night?: readonly string[];
  readonly morning?: readonly string[];
  /** What people do after the run, still in the night, or at noon, and what is told then. */
  readonly after?: readonly Act[];
  readonly noon?: readonly Act[];
  /** The days of the digests that are sent in the night, because the machine was off; each morning sends its own. */
  readonly lateDigests?: readonly number[];
}

type Act = Action & { readonly told?: readonly string[] };

/** An event, the day in March, and the stage if it is not `raised`. */
const month: readonly Night[] = [
  { day: 1 },
  { day: 2 },
  {
    day: 3,
    source: 'broken',
    night: ['run-failed 3'],
    morning: ['day-late 3'],
    noon: [{ does: 'repair', day: 3, told: ['day-recovered 3'] }],
  },
  { day: 4 },
  { day: 5, source: 'empty', night: ['run-failed 5'], morning: ['day-late 5'] },
  {
    day: 6,
    source: 'truncated',
    night: ['run-failed 6', 'run-failed 5 reminder'],
    morning: ['day-late 6', 'day-late 5 reminder'],
    noon: [{ does: 'cancel', day: 5 }],
  },
  {
    day: 7,
    night: ['run-failed 6 reminder'],
    after: [{ does: 'repair', day: 6, told: ['day-recovered 6'] }],
    // Nobody reviewed the day that was given up.
    morning: ['day-late 5 reminder'],
    noon: [{ does: 'except', day: 5 }],
  },
  { day: 8 },
  { day: 9 },
  {
    day: 10,
    source: 'missing',
    night: ['run-failed 10'],
    morning: ['day-late 10'],
    noon: [{ does: 'repair', day: 10, told: ['day-recovered 10'] }],
  },
  {
    day: 11,
    result: 'incomplete',
    night: ['run-failed 11', 'result-incomplete 11'],
    morning: ['day-late 11'],
    noon: [{ does: 'repair', day: 11, told: ['day-recovered 11'] }],
  },
  { day: 12, result: 'none', night: ['result-late 12'], morning: ['day-late 12'] },
  {
    day: 13,
    night: ['result-late 12 reminder'],
    after: [{ does: 'repair', day: 12, told: ['affected-found 12', 'day-recovered 12'] }],
  },
  {
    day: 14,
    isRefused: true,
    night: ['run-failed 14', 'credentials-refused 14'],
    morning: ['day-late 14'],
  },
  {
    day: 15,
    isRefused: true,
    night: ['run-failed 15', 'run-failed 14 reminder', 'credentials-refused 14 reminder'],
    morning: ['day-late 15', 'day-late 14 reminder'],
  },
  {
    day: 16,
    night: ['credentials-refused 14 recovered', 'run-failed 14 reminder', 'run-failed 15 reminder'],
    after: [
      { does: 'repair', day: 15, told: ['day-recovered 15'] },
      { does: 'repair', day: 14, told: ['day-recovered 14'] },
    ],
  },
  { day: 17, isOff: 'all' },
  { day: 18, isOff: 'all' },
  {
    day: 19,
    night: ['day-late 17', 'day-late 18', 'case-urgent'],
    lateDigests: [18],
    after: [
      { does: 'repair', day: 18, told: ['day-recovered 18'] },
      { does: 'repair', day: 17, told: ['day-recovered 17'] },
    ],
  },
  { day: 20 },
  // An exception of the deadline from the start.
  { day: 21, isOff: 'night' },
  { day: 22, source: 'one-provider', night: ['provider-silent 22'] },
  {
    day: 23,
    source: 'few',
    night: ['volume-dropped 23'],
    // It was reviewed by its deadline, and people know: it is not late, too.
    morning: [],
    noon: [{ does: 'accept', day: 23, told: ['day-recovered 23'] }],
  },
  // Nobody started a run.
  {
    day: 24,
    isOff: 'night',
    morning: ['day-late 24'],
    noon: [{ does: 'repair', day: 24, told: ['day-recovered 24'] }],
  },
  {
    day: 25,
    source: 'broken',
    receiverLeaves: true,
    night: ['run-failed 25'],
    morning: ['day-late 25'],
    noon: [
      // It receives what it missed.
      { does: 'receiver-returns' },
      { does: 'repair', day: 25, told: ['day-recovered 25'] },
    ],
  },
  { day: 26, source: 'broken', night: ['run-failed 26'], morning: ['day-late 26'] },
  {
    day: 27,
    // One hour less than a day later.
    night: ['run-failed 26 reminder'],
    after: [{ does: 'repair', day: 26, told: ['day-recovered 26'] }],
  },
  { day: 28 },
  {
    day: 29,
    source: 'broken',
    night: ['run-failed 29'],
    morning: ['day-late 29'],
    noon: [
      { does: 'repair', day: 29, told: ['day-recovered 29'] },
      { does: 'replay-broken', day: 29, told: ['run-failed 29'] },
      { does: 'repair', day: 29, told: ['day-recovered 29'] },
    ],
  },
  { day: 30 },
];
/** What a channel with `minimum: critical` does not get. */
const isWarning = (told: string) =>
  /^(?:result-late|affected-found|provider-silent|volume-dropped)\b|^day-recovered 23$/.test(told);

const isoOf = (day: number) => `2027-03-${String(day).padStart(2, '0')}`;
const byReference = (day: number, number: number) => `D${day}-${number}`;

function bookingsOf(day: number, source: Source = 'good'): MadeBooking[] {
  const count = source === 'few' ? 20 : usualCount;
  return makeBookings(count, { first: day * 100 })
    .map((booking, index) => ({
      ...booking,
      BookingReferenceId: byReference(day, index),
      // One of the two that are affected checks in while the machine has just come back.
      ...(day === 12 && index === 0
        ? { CheckInDate: '2027-03-20', CheckOutDate: '2027-03-24' }
        : { CheckInDate: '2027-07-01', CheckOutDate: '2027-07-05' }),
    }))
    .filter(({ ProviderName }) => source !== 'one-provider' || ProviderName === 'Expedia')
    .concat(
      source === 'one-provider'
        ? makeBookings(10, { first: 9_001 }).map((one) => ({ ...one, ProviderName: 'Expedia' }))
        : [],
    );
}

function contentOf(day: number, source: Source): string | undefined {
  const whole = toCsv(bookingsOf(day, source));
  switch (source) {
    case 'missing':
      return undefined;
    case 'broken':
      return 'not a header\n';
    case 'empty':
      return whole.slice(0, whole.indexOf('\n') + 1);
    case 'truncated':
      return `${whole}"cut in a quote`;
    default:
      return whole;
  }
}

it('a month of nights: exactly what the table predicts is sent, each once, the recovery after its problem', {
  timeout: 600_000,
}, async () => {
  const clock = useFastClock();
  const set = (day: number, time: string) =>
    clock.set(instantAt(createBusinessDay(isoOf(day), timezone).next(), time).toISOString());
  set(1, '02:00');
  const state = { isRefused: false, result: 'whole' as Result };
  const calls = new Map<string, FileCall>();
  const hook = await startWebhookReceiver();
  const quiet = await startWebhookReceiver();
  const mail = await startSmtpServer();
  const exceptions: Record<string, string> = { [isoOf(21)]: 'none' };
  const changing = () => ({ deadline: { at: '06:00', exceptions } });
  const { folder } = await prepareFileDay(server(), {
    settings: {
      delivery: 'body',
      timezone,
      file: { resultTimeoutMinutes: 0.01 },
      volume: { shareOfUsual: 0.5 },
      notify: [
        hook.channel,
        { ...quiet.channel, name: 'quiet', minimum: 'critical' },
        {
          kind: 'email',
          smtp: `smtp://127.0.0.1:${mail.port}`,
          from: 'night@agency.example',
          to: ['ops@agency.example'],
          on: ['morning-digest'],
          at: '08:00',
        },
      ],
      ...changing(),
    },
    onPost: () => (state.isRefused ? refusal(2003) : success),
    async onCall(call) {
      calls.set(call.path, call);
      await writeResult(call, state.result);
      return success;
    },
  });
  /** What the first receiver is still to be told. */
  const missed: string[] = [];
  const expectedDigests: string[] = [];

  async function writeResult(call: FileCall, result: Result): Promise<void> {
    if (result === 'none') return;
    const records = parseRecords(call.file);
    const affected = [byReference(12, 0), byReference(12, 1)];
    await call.writeResult({ affected, records: result === 'whole' ? records : records.slice(0, -1) });
  }

  async function runDay(day: number, result?: Result): Promise<void> {
    const delivery = result ? ['--delivery', 'file'] : [];
    const { exitCode, stderr } = await folder.run(['run', '--day', isoOf(day), ...delivery]);
    expect([0, 1, 3, 5], stderr).toContain(exitCode);
  }

  async function act(action: Action): Promise<void> {
    switch (action.does) {
      case 'repair': {
        const { day } = action;
        await folder.writeBookings(contentOf(day, 'good') ?? '', isoOf(day));
        for (const [path, call] of calls)
          if (path.endsWith(`${String(day).padStart(2, '0')}032027.csv`)) await writeResult(call, 'whole');
        return runDay(day);
      }
      case 'replay-broken':
        await folder.writeBookings(contentOf(action.day, 'broken') ?? '', isoOf(action.day));
        expect((await folder.run(['replay', isoOf(action.day)])).exitCode).toBe(1);
        return;
      case 'accept':
        expect((await folder.run(['run', isoOf(action.day), '--accept-volume'])).exitCode).toBe(0);
        return;
      case 'cancel':
        expect((await folder.run(['cancel', isoOf(action.day), '--reason', 'no export'])).exitCode).toBe(0);
        return;
      case 'except':
        exceptions[isoOf(action.day)] = 'none';
        return folder.configure(changing());
      case 'receiver-returns':
        hook.answer = accepting;
        return runDay(1);
      case 'look':
        return runDay(1);
    }
  }

  async function expectTold(when: string, told: readonly string[] = []) {
    missed.push(...told);
    const expected = hook.answer === unavailable ? [] : missed.splice(0);
    expect([when, ...takeSorted(hook)]).toEqual([when, ...expected.sort()]);
    const critical = told.filter((one) => !isWarning(one));
    expect([`${when}, quiet`, ...takeSorted(quiet)]).toEqual([`${when}, quiet`, ...critical.sort()]);
    const digests = await Promise.all(mail.emails.map(({ raw }) => PostalMime.parse(raw)));
    expect(digests.map(({ subject }) => subject?.slice(0, 21))).toEqual(expectedDigests);
  }

  for (const night of month) {
    const { day, source = 'good', result, isRefused = false, isOff, receiverLeaves } = night;
    const content = contentOf(day, source);
    if (content !== undefined) await folder.writeBookings(content, isoOf(day));
    Object.assign(state, { isRefused, result: result ?? 'whole' });
    if (receiverLeaves) hook.answer = unavailable;
    set(day, '03:00');
    if (isOff === undefined) await runDay(day, result);
    for (const late of night.lateDigests ?? []) expectedDigests.push(`Reviews of ${isoOf(late)}`);
    await expectTold(`night ${day}`, night.night);
    for (const { told, ...action } of night.after ?? []) {
      await act(action);
      await expectTold(`night ${day}, ${action.does}`, told);
    }
    state.isRefused = false;
    if (isOff === 'all') continue;
    set(day, '08:05');
    await act({ does: 'look' });
    expectedDigests.push(`Reviews of ${isoOf(day)}`);
    await expectTold(`morning ${day}`, night.morning);
    set(day, '12:00');
    for (const { told, ...action } of night.noon ?? []) {
      await act(action);
      await expectTold(`noon ${day}, ${action.does}`, told);
    }
  }
  const ids = [...hook.accepted, ...quiet.accepted].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { accepted } of [hook, quiet]) expectRecoveriesAfter(accepted);
});

/** As the table writes them. */
function takeSorted({ takeNew }: { takeNew(): readonly string[] }): string[] {
  return takeNew()
    .map((told) => told.replace(/2027-03-0?/, ''))
    .sort();
}

/** A recovery is sent only after a problem of that day, and for each problem that nobody gave up. */
function expectRecoveriesAfter(told: readonly ReceivedNotice[]): void {
  const open = new Set<string>();
  const problems = ['run-failed', 'day-late', 'result-late', 'result-incomplete', 'volume-dropped'];
  for (const { event, day } of told) {
    if (day === null) continue;
    if (problems.includes(event)) open.add(day);
    if (event === 'day-recovered') expect(open.delete(day), `recovery of ${day}`).toBe(true);
  }
  expect([...open]).toEqual([isoOf(5)]);
}
