import { describe, expect, it } from 'vitest';
import { serviceFields } from '../../src/booking/booking.js';
import type { Secrets } from '../../src/checks/setup/answers.js';
import { defaultsAsker } from '../../src/checks/setup/asker.js';
import { interview } from '../../src/checks/setup/interview.js';
import type { InitOptions } from '../../src/checks/setup/options.js';
import { askColumns } from '../../src/checks/setup/source-interview.js';
import { createScriptedAsker } from './answering.js';
import { createExportFolder } from './export-folder.js';
import { openTrials } from './open-trials.js';

type Script = Parameters<typeof createScriptedAsker>[0];

async function hold(
  options: Partial<InitOptions>,
  script: Script = {},
  {
    files = {},
    asksSecrets = true,
    known = {},
  }: { files?: Record<string, string>; asksSecrets?: boolean; known?: Secrets } = {},
) {
  const folder = await createExportFolder(files);
  // Whatever fails is left as it is, unless a test says otherwise.
  const { asker, ...person } = createScriptedAsker({ 'What now': 'on', ...script });
  const held = await interview(
    { yes: false, ...options },
    {
      asker,
      timezone: 'Asia/Tokyo',
      home: '/home/ada',
      asksSecrets,
      known: (name) => known[name],
      trials: openTrials(folder),
    },
  );
  return { ...held, ...person };
}

const allColumns = `${serviceFields.join(',')}\n7,BR-1,Ada,Bedlink,h-1,2026-12-01,2026-12-02\n`;

describe('The questions of init', () => {
  it('are answered by defaults if nobody can be asked', async () => {
    const { answers, examination } = await interview(
      { yes: true },
      {
        asker: defaultsAsker,
        timezone: 'Asia/Tokyo',
        home: '/home/ada',
        asksSecrets: true,
        known: () => undefined,
        trials: { examine: async () => ({ kind: 'no-file' }), read: async () => [] },
      },
    );
    expect(answers).toEqual({
      timezone: 'Asia/Tokyo',
      baseUrl: undefined,
      source: { kind: 'csv', path: 'exports/bookings-{day}.csv' },
      delivery: 'body',
      sftp: undefined,
      secrets: {},
    });
    expect(examination).toEqual({ kind: 'no-file' });
  });

  it('are five for a file by body, and say which time zone the machine has', async () => {
    const files = { 'b-2026-11-20.csv': 'ServiceId\n7\n' };
    const { asked, reported } = await hold({}, { 'bookings, with {day}': 'b-{day}.csv' }, { files });
    expect(asked).toEqual([
      'Where are the bookings?',
      "The file of a day's bookings, with {day} in it; also s3://… or sftp://…",
      'How many bookings a usual day has; fewer than half of them are too few (empty: not known)',
      'The address of the mapping service (empty: later)',
      'The SFTP server of the service, HOST or HOST:PORT (empty: none)',
    ]);
    expect(reported[0]).toBe("Days are those of Asia/Tokyo, this machine's zone (setting timezone).");
    const told = await hold({ timezone: 'UTC' });
    expect(told.reported[0]).toBe('Days are those of UTC.');
  });

  it('are only asked where the options leave them open', async () => {
    const { asked } = await hold(
      {
        kind: 'csv',
        path: 'b-{day}.csv',
        timezone: 'UTC',
        baseUrl: 'https://maps.test/api/3.0',
        delivery: 'file',
        usualBookings: 420,
        sftpHost: 'h',
        sftpPort: 22,
        sftpUsername: 'u',
        sftpKeyFile: 'id',
      },
      {},
      { files: { 'b-2026-11-20.csv': allColumns } },
    );
    expect(asked).toEqual([]);
  });

  it('accept typed answers, checked as the configuration would check them', async () => {
    const { answers, refused } = await hold(
      {},
      {
        'bookings, with {day}': ['b-{date}.csv', '~/b-{day}.csv'],
        'mapping service': ['http://maps.test', 'https://maps.test/api/3.0'],
        'a usual day': ['many', '421'],
        'SFTP server': ['a b', 'sftp.test:ssh', 'sftp.test:99999', 'sftp.test:2222'],
        'user name': 'acme',
      },
    );
    expect(answers).toEqual({
      timezone: 'Asia/Tokyo',
      baseUrl: 'https://maps.test/api/3.0',
      source: { kind: 'csv', path: '/home/ada/b-{day}.csv' },
      delivery: 'file',
      usualBookings: 421,
      sftp: { host: 'sftp.test', port: 2222, username: 'acme', keyFile: undefined },
      secrets: {},
    });
    expect(refused).toHaveLength(6);
  });

  it('ask again after a path at which there is no file, until it is right or left for later', async () => {
    const files = { 'b-2026-11-20.csv': 'ServiceId\n7\n' };
    const paths = ['c-{day}.csv', 'b-{day}.csv'];
    const { asker, asked, reported } = createScriptedAsker({ 'What now': 'again' });
    const { examination } = await interview(
      { yes: false },
      {
        asker: {
          ...asker,
          text: async (question) =>
            question.message.includes('{day}') ? paths.shift() : asker.text(question),
        },
        timezone: 'UTC',
        home: '/home/ada',
        asksSecrets: true,
        known: () => undefined,
        trials: openTrials(await createExportFolder(files)),
      },
    );
    expect(reported.join('\n')).toContain('no file matches c-{day}.csv yet');
    expect(asked.filter((message) => message === 'What now?')).toHaveLength(1);
    expect(examination).toMatchObject({ kind: 'examined', location: 'b-2026-11-20.csv' });
  });

  it('ask what to do with incomplete bookings if the source lacks columns, and say what would be unknown', async () => {
    const header = 'ServiceId,BookingReferenceId,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate';
    const nameless = { 'b-2026-11-20.csv': `${header}\n1,BR-1,Bedlink,h-1,2026-12-01,2026-12-02\n` };
    const question = 'The source has no BookingClientName, and the file may not have empty cells.';
    const options = { path: 'b-{day}.csv', day: '2026-11-20', delivery: 'file' } as const;
    const { answers, asked } = await hold(options, { 'empty cells': 'leave-empty' }, { files: nameless });
    expect(asked.join()).toContain(question);
    expect(answers.incomplete).toBe('leave-empty');
    expect((await hold(options, {}, { files: nameless })).answers.incomplete).toBe('post');
    const byBody = await hold({ ...options, delivery: 'body' }, {}, { files: nameless });
    expect(byBody.asked.join()).not.toContain(question);
    const complete = Object.fromEntries(
      Object.entries(nameless).map(([name, text]) => [
        name,
        text.replace('ServiceId,', 'ServiceId,BookingClientName,').replace('1,BR', '1,Ada,BR'),
      ]),
    );
    expect((await hold(options, {}, { files: complete })).asked.join()).not.toContain('empty cells');
  });

  it('infer NDJSON from the name of the file, and delivery by file from a given server', async () => {
    const { answers } = await hold({ path: 'b-{day}.jsonl.gz', sftpUsername: 'acme' });
    expect(answers).toMatchObject({
      source: { kind: 'ndjson' },
      delivery: 'file',
      sftp: { username: 'acme' },
    });
  });

  it('report what was found, and ask for each field that was not', async () => {
    const files = {
      'b-2026-11-20.csv': 'haus,guest,firma,von,bis,preis\n7,Ada,Roomly,20.11.2026,22.11.2026,7\n',
    };
    const { examination, reported, asked } = await hold(
      { path: 'b-{day}.csv' },
      { 'master hotel id': 'haus', ProviderName: 'firma', CheckInDate: 'von', CheckOutDate: 'bis' },
      { files },
    );
    expect(reported[1]).toBe(
      'b-2026-11-20.csv: 1 of the 7 fields found by the names of its columns.\nBookingClientName: "guest"',
    );
    expect(reported[2]).toMatch(/^.*understood.*\n {2}7, –, \*\*\*, Roomly, –, 2026-11-20, 2026-11-22$/s);
    expect(asked.filter((message) => message.startsWith('Which column'))).toEqual([
      'Which column holds the master hotel id (ServiceId)?',
      'Which column holds the booking reference (BookingReferenceId)?',
      "Which column holds the provider's name (ProviderName)?",
      "Which column holds the provider's hotel id (ProviderHotelId)?",
      'Which column holds the day of check-in (CheckInDate)?',
      'Which column holds the day of check-out (CheckOutDate)?',
    ]);
    expect(examination).toMatchObject({
      columns: new Map([
        ['ServiceId', 'haus'],
        ['BookingClientName', 'guest'],
        ['ProviderName', 'firma'],
        ['CheckInDate', 'von'],
        ['CheckOutDate', 'bis'],
      ]),
      // The answer was that the file has no such columns.
      missing: [],
      unused: ['preis'],
      dates: { kind: 'one', format: 'dd.MM.yyyy', read: 2, seen: 2 },
    });
  });

  it('let only the master id be left for later', async () => {
    const files = { 'b-2026-11-20.csv': 'haus,guest\n7,Ada\n' };
    const { examination } = await hold({ path: 'b-{day}.csv' }, {}, { files });
    expect(examination).toMatchObject({ missing: ['ServiceId'], unused: ['haus'] });
    const { asker } = createScriptedAsker({});
    let offered: readonly (readonly string[])[] = [];
    await askColumns(
      {
        ...asker,
        choose: async ({ choices, fallback }) => {
          offered = [...offered, choices.map(({ label }) => label)];
          return fallback;
        },
      },
      new Map(),
      ['twice', 'haus', '', 'twice'],
    );
    expect(offered).toEqual([['haus', '(later)'], ...Array(6).fill(['haus', '(none of these)'])]);
  });

  it('offer a column once, and end with the columns', async () => {
    const files = { 'b-2026-11-20.csv': 'haus\n7\n' };
    const { asked } = await hold({ path: 'b-{day}.csv' }, { 'Which column': 'haus' }, { files });
    expect(asked.filter((message) => message.startsWith('Which column'))).toHaveLength(1);
  });

  it('leave open what was not found if nobody can be asked', async () => {
    const folder = await createExportFolder({ 'b.csv': 'hotel_id,von\n7,20.11.2026\n' });
    const { examination } = await interview(
      { yes: true, path: 'b.csv' },
      {
        asker: defaultsAsker,
        timezone: 'UTC',
        home: '/home/ada',
        asksSecrets: true,
        known: () => undefined,
        trials: openTrials(folder),
      },
    );
    expect(examination).toMatchObject({
      missing: serviceFields.filter((field) => field !== 'ServiceId'),
      dates: { kind: 'no-column' },
    });
  });

  it('ask for the format of ambiguous dates', async () => {
    const files = { 'b-2026-11-20.csv': 'hotel_id,arrival\n7,01/02/2026\n' };
    const decided = await hold({ path: 'b-{day}.csv' }, { 'are ambiguous': 'MM/dd/yyyy' }, { files });
    expect(decided.examination).toMatchObject({ dates: { kind: 'one', format: 'MM/dd/yyyy' } });
    const undecided = await hold({ path: 'b-{day}.csv' }, {}, { files });
    expect(undecided.examination).toMatchObject({ dates: { kind: 'several' } });
  });

  it('say what each delivery gives, before they ask for the server', async () => {
    const { reported, answers } = await hold({}, { 'SFTP server': 'sftp.test' });
    const words = reported.join(' ').replaceAll(/\s+/g, ' ');
    expect(words).toContain('a result says which are affected. Without one they go in request bodies');
    expect(answers).toMatchObject({ delivery: 'file', sftp: { host: 'sftp.test' } });
    const without = await hold({});
    expect(without.answers.delivery).toBe('body');
    expect(without.reported.join(' ')).toContain(
      'By body, nobody learns a verdict until the setting verdicts',
    );
    const byBody = await hold({ delivery: 'body' });
    expect(byBody.asked.join()).not.toContain('SFTP server');
  });

  it('say why an export was not understood', async () => {
    const { reported } = await hold({ path: 'b.csv' }, {}, { files: { 'b.csv': '7,Ada Lovelace\n' } });
    expect(reported[1]?.replaceAll(/\s+/g, ' ')).toBe(
      'warning: b.csv was found, but its first line is not a header with column names.',
    );
  });
});
