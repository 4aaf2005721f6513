import { describe, expect, it } from 'vitest';
import type { InitOptions } from '../../src/cli/commands/setup.js';
import { defaultsAsker } from '../../src/setup/asker.js';
import { examineExport } from '../../src/setup/examine-export.js';
import { interview } from '../../src/setup/interview.js';
import { createScriptedAsker } from './answering.js';
import { createExportFolder } from './export-folder.js';

type Script = Parameters<typeof createScriptedAsker>[0];

async function hold(
  options: Partial<InitOptions>,
  script: Script = {},
  { files = {}, asksSecrets = true }: { files?: Record<string, string>; asksSecrets?: boolean } = {},
) {
  const folder = await createExportFolder(files);
  const { asker, ...person } = createScriptedAsker(script);
  const { signal } = new AbortController();
  const held = await interview(
    { yes: false, ...options },
    {
      asker,
      timezone: 'Asia/Tokyo',
      home: '/home/ada',
      asksSecrets,
      examine: (source) => examineExport(source, { folder, today: '2026-11-21', signal }),
    },
  );
  return { ...held, ...person };
}

describe('The questions of init', () => {
  it('are answered by defaults where there is nobody to ask', async () => {
    const { answers, examination } = await interview(
      { yes: true },
      {
        asker: defaultsAsker,
        timezone: 'Asia/Tokyo',
        home: '/home/ada',
        asksSecrets: true,
        examine: async () => ({ kind: 'no-file' }),
      },
    );
    expect(answers).toEqual({
      timezone: 'Asia/Tokyo',
      baseUrl: undefined,
      kind: 'csv',
      path: 'exports/bookings-{day}.csv',
      delivery: 'body',
      sftp: undefined,
      secrets: { apiKey: undefined, accountId: undefined, sftpPassword: undefined },
    });
    expect(examination).toEqual({ kind: 'no-file' });
  });

  it('are only those that the options leave open', async () => {
    const { asked } = await hold({
      kind: 'csv',
      path: 'b-{day}.csv',
      timezone: 'UTC',
      baseUrl: 'https://maps.test/api/3.0',
      delivery: 'file',
      sftpHost: 'h',
      sftpPort: 22,
      sftpUsername: 'u',
      sftpKeyFile: 'id',
    });
    expect(asked).toEqual([
      'The fingerprint of its host key, SHA256:… (empty: later)',
      "The account's identifier (empty: later)",
      'The API key (hidden; empty: later)',
    ]);
  });

  it('take what is typed, checked as the configuration would check it', async () => {
    const { answers, refused } = await hold(
      {},
      {
        'time zone': ['Mars/North', 'Europe/Madrid'],
        'bookings, with': ['b-{date}.csv', '~/b-{day}.csv'],
        'mapping service': ['http://maps.test', 'https://maps.test/api/3.0'],
        'reach the service': 'file',
        'SFTP server': ['a b', 'sftp.test'],
        port: ['99999', 'ssh', '2222'],
        'user name': 'acme',
        fingerprint: ['MD5:1', `SHA256:${'b'.repeat(43)}`],
        identifier: '4711',
        'API key': ['schlüssel', 'k-1'],
        'SFTP password': 'p-1',
      },
    );
    expect(answers).toEqual({
      timezone: 'Europe/Madrid',
      baseUrl: 'https://maps.test/api/3.0',
      kind: 'csv',
      path: '/home/ada/b-{day}.csv',
      delivery: 'file',
      sftp: {
        host: 'sftp.test',
        port: 2222,
        username: 'acme',
        keyFile: undefined,
        hostKey: `SHA256:${'b'.repeat(43)}`,
      },
      secrets: { apiKey: 'k-1', accountId: '4711', sftpPassword: 'p-1' },
    });
    expect(refused).toHaveLength(8);
    expect(refused[0]).toBe('expected a time zone such as Europe/Madrid, got: Mars/North');
    expect(refused.join('\n')).not.toContain('schl');
  });

  it('are for no secret where .env is there already, and for no password where a key is used', async () => {
    expect((await hold({}, {}, { asksSecrets: false })).asked.join()).not.toMatch(/API key|identifier/);
    const { asked } = await hold({ delivery: 'file' }, { 'private key': '~/.ssh/id' });
    expect(asked.join()).toMatch(/API key/);
    expect(asked.join()).not.toMatch(/password \(hidden/);
  });

  it('suppose NDJSON by the name of the file, and delivery by file where a server is named', async () => {
    const { answers } = await hold({ path: 'b-{day}.jsonl.gz', sftpUsername: 'acme' });
    expect(answers).toMatchObject({ kind: 'ndjson', delivery: 'file', sftp: { username: 'acme', port: 22 } });
  });

  it('offer the columns of an export where none looks like the master id', async () => {
    const files = { 'b-2026-11-20.csv': 'hotel,guest\n7,Ada\n' };
    const { examination, told } = await hold(
      { path: 'b-{day}.csv' },
      { 'master hotel id': 'hotel' },
      { files },
    );
    expect(told).toEqual(['b-2026-11-20.csv: 1 of the 7 fields found by the names of its columns.']);
    expect(examination).toMatchObject({
      columns: new Map([
        ['ServiceId', 'hotel'],
        ['BookingClientName', 'guest'],
      ]),
      unused: [],
    });
  });

  it('ask how dates are written that can be read in two ways', async () => {
    const files = { 'b-2026-11-20.csv': 'hotel_id,arrival\n7,01/02/2026\n' };
    const decided = await hold({ path: 'b-{day}.csv' }, { 'several ways': 'MM/dd/yyyy' }, { files });
    expect(decided.examination).toMatchObject({ dates: { kind: 'one', format: 'MM/dd/yyyy' } });
    const undecided = await hold({ path: 'b-{day}.csv' }, {}, { files });
    expect(undecided.examination).toMatchObject({ dates: { kind: 'several' } });
  });

  it('say why an export was not understood', async () => {
    const { told } = await hold({ path: 'b.csv' }, {}, { files: { 'b.csv': '7,Ada Lovelace\n' } });
    expect(told).toEqual(['b.csv is there, but its first line is no header with the names of the columns.']);
  });
});
