import { expect, it } from 'vitest';
import { type BusinessDay, createBusinessDay, instantAt } from '../../src/booking/business-day.js';
import { useFastClock } from '../support/fast-clock.js';
import { prepareFileDay } from '../support/file-day.js';
import { type StandInAnswer, success } from '../support/http-stand-in.js';
import { bookingsHeader, makeBookings } from '../support/made-bookings.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { useSftpServer } from '../support/use-servers.js';
import { startWebhookReceiver } from '../support/webhook-receiver.js';

const server = useSftpServer(sandboxSftp);

const timezone = 'Europe/Madrid';
/** From a Monday on; the clocks change in the night to the 28th. */
const days = listDays(createBusinessDay('2027-03-15', timezone), 15);
/** A Friday. */
const holiday = '2027-03-26';
const statuses = ['OK', 'OK', 'bestätigt', 'OK', 'storniert', 'OK', 'OK'];

/** What a night does besides its run. */
type Kind = 'body' | 'file' | 'late-by-body' | 'late-by-file' | 'today';
const kinds: readonly Kind[] = ['file', 'body', 'late-by-file', 'today', 'late-by-body', 'file', 'file'];

const weekdayOf = (iso: string) => new Date(iso).getUTCDay();

function listDays(first: BusinessDay, count: number): BusinessDay[] {
  return count === 0 ? [] : [first, ...listDays(first.next(), count - 1)];
}

/** German, some of it cancelled; the counts of working days differ a little, weekends have half of them. */
function exportOf(index: number, weekday: number, share = 1): string {
  const isQuiet = weekday === 0 || weekday === 6;
  const count = days[index]?.iso === holiday ? 12 : (isQuiet ? 100 : 200) + ((index * 7) % 11);
  const made = makeBookings(count, { first: index * 1_000, checkIn: '2027-07-01', checkOut: '2027-07-05' });
  const rows = made.slice(0, Math.ceil(count * share)).map((booking, at) =>
    Object.values({ ...booking, BookingClientName: `Jörg Schröder ${at}` })
      .concat(statuses[at % statuses.length] ?? '')
      .join(';'),
  );
  return `${[`${bookingsHeader.replaceAll(',', ';')};Status`, ...rows].join('\r\n')}\r\n`;
}

it('two good weeks say nothing, by body and by file, with late bookings and runs of today, and a night without its export does', {
  timeout: 300_000,
}, async () => {
  const clock = useFastClock();
  const dated = (): StandInAnswer => ({
    ...(success as StandInAnswer & { kind: 'json' }),
    headers: { date: new Date().toUTCString() },
  });
  const hook = await startWebhookReceiver();
  const { folder } = await prepareFileDay(server(), {
    settings: {
      timezone,
      source: {
        encoding: 'windows-1252',
        delimiter: ';',
        where: { Status: { not: ['storniert'] } },
      },
      volume: { exceptions: [holiday] },
      deadline: '06:00',
      notify: [{ ...hook.channel, minimum: 'info' }],
    },
    onPost: dated,
    async onCall(call) {
      await call.writeResult();
      return dated();
    },
  });

  /** Cron mails whatever is printed. */
  async function run(...words: string[]) {
    const { exitCode, stdout, stderr } = await folder.run(['run', '--quiet', ...words]);
    expect({ words, exitCode, stdout, stderr }).toEqual({ words, exitCode: 0, stdout: '', stderr: '' });
  }

  for (const [index, day] of days.entries()) {
    const kind = kinds[weekdayOf(day.iso)] ?? 'body';
    const write = (share?: number) =>
      folder.writeBookings(Buffer.from(exportOf(index, weekdayOf(day.iso), share), 'latin1'), day.iso);
    const delivery = kind === 'file' || kind === 'late-by-file' ? 'file' : 'body';
    const at = (time: string, ofDay = day.next()) => clock.set(instantAt(ofDay, time).toISOString());
    if (kind === 'today') {
      at('14:00', day);
      await write(0.5);
      await run('today', '--delivery', delivery);
    }
    await write(kind.startsWith('late') ? 0.95 : 1);
    at('02:30');
    await run('--delivery', delivery);
    if (kind.startsWith('late')) {
      at('03:30');
      await write();
      const late = await folder.run(['replay', day.iso, '--late']);
      expect([late.exitCode, late.stdout + late.stderr]).toEqual([0, expect.not.stringMatching(/warning/i)]);
    }
    at('08:05');
    await run();
    const { json } = await folder.run(['status', day.iso, '--json']);
    const { runs } = json as { readonly runs: readonly object[] };
    expect(runs[0]).toMatchObject({ isGood: true, notGood: [], warnings: [] });
    expect([day.iso, ...hook.takeNew()]).toEqual([day.iso]);
  }
  const missing = await folder.run(['run', '--quiet', days.at(-1)?.next().iso ?? '']);
  expect([missing.exitCode, missing.stdout]).toEqual([1, expect.stringMatching(/there is no file/i)]);
});
