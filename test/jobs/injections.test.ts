import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendJson, useBookingsApi } from '../sources/http/bookings-api.js';
import { day } from '../support/day-folder.js';
import { expectError } from '../support/expectations.js';
import { bucketName, useS3Server, writeVariables } from '../support/s3-server.js';
import { expectNoColumns, expectNoHarm, prepareGuardedPlace } from './guarded-place.js';

const token = 'token-of-the-source';

describe('an invalid day', () => {
  it.each([
    "2026-11-20'; DROP TABLE bookings;--",
    '../../etc/passwd',
    '$(touch touched)',
    '2026-11-20@evil.example.com',
  ])('is refused by run, dry run, replay and doctor, before anything is opened: %s', async (text) => {
    const place = await prepareGuardedPlace();
    const results = await Promise.all([
      place.folder.run(['run', '--day', text, '--json']),
      place.folder.run(['run', '--dry-run', '--day', text, '--json']),
      place.folder.run(['replay', text, '--json']),
      place.folder.run(['doctor', '--day', text, '--json']),
    ]);
    for (const result of results) {
      expectError(result, {
        exitCode: 2,
        class: 'usage',
        message: /expected a day as YYYY-MM-DD(, today or yesterday)?, got: /,
      });
    }
    expectNoHarm(place);
    expect(readdirSync(place.folder.path)).not.toContain('data');
  });
});

describe('a path or URL that escapes its place', () => {
  const paths = [
    "in/{day:'../'yyyy}/{day}.csv",
    "in/{day:yyyy'$(touch touched)'}",
    "{day:'sftp://evil.example.com/'yyyy}",
    's3://{day}/in.csv',
    's3://id:key@bucket/{day}.csv',
    's3://bucket/../other/{day}.csv',
    'sftp://{day}/in.csv',
    "sftp://drop{day:'.evil.example.com/'yyyy}.csv",
    'sftp://drop.example.com@evil.example.com/{day}.csv',
    'https://evil.example.com/{day}.csv',
  ];
  const urls = [
    'https://{day}/bookings',
    'https://pms.example.com@{day}/bookings',
    'https://pms.example.com\\@evil.example.com/{day}',
    "https://pms.example.com/{day:'..'}/bookings",
    'http://evil.example.com/{day}',
  ];
  const account = { username: 'agency', password: 'hush', hostKey: `SHA256:${'a'.repeat(43)}` };

  it.each([
    ['source.path', 'csv', paths],
    ['source.url', 'http', urls],
  ] as const)('is refused as %s, by run and by doctor', async (setting, kind, places) => {
    const place = await prepareGuardedPlace();
    const { folder, use } = place;
    for (const [index, written] of places.entries()) {
      await use(
        kind === 'csv'
          ? { kind, path: written, sftp: account }
          : { kind, url: written, headers: { Authorization: `Bearer ${token}` } },
      );
      const command = index % 5 === 3 ? ['doctor', '--json'] : ['run', '--day', day, '--json'];
      const result = await folder.run(command);
      expect(result.exitCode, written).toBe(2);
      expect(result.stdout, written).toContain(setting);
      expect(result.stdout + result.stderr).not.toContain(token);
    }
    expectNoHarm(place);
    expect(readdirSync(folder.path)).not.toContain('data');
  });

  it('is an ordinary name when percent-encoded, as nothing decodes it', async () => {
    const { folder, standIn, use } = await prepareGuardedPlace();
    await use({ kind: 'csv', path: 'in/%2e%2e/bookings-{day}.csv' });
    await folder.writeBookings('ServiceId\n7\n');
    mkdirSync(join(folder.path, 'in'));
    const result = await folder.runDay();
    expect(result.report.error?.message).toContain(join(folder.path, 'in/%2e%2e', `bookings-${day}.csv`));
    expect(result.exitCode).toBe(1);
    mkdirSync(join(folder.path, 'in/%2e%2e'));
    writeFileSync(join(folder.path, 'in/%2e%2e', `bookings-${day}.csv`), 'ServiceId\n8\n');
    expect((await folder.runDay()).exitCode).toBe(0);
    expect(standIn.accepted()).toEqual([{ ServiceId: 8 }]);
  });

  describe('in a bucket', () => {
    const buckets = useS3Server();

    it('is an ordinary key when percent-encoded', async () => {
      await buckets().put(`${day}.csv`, 'ServiceId\n7\n');
      const source = { kind: 'csv', path: `s3://${bucketName}/in/%2e%2e/{day}.csv` };
      const place = await prepareGuardedPlace();
      await place.use(source);
      writeVariables(place.folder.path, buckets().access());
      const result = await place.folder.runDay();
      expect(result.exitCode).toBe(1);
      expect(result.report.error?.message).toContain('in/%2e%2e/');
      expect(buckets().requests.at(-1)?.line).toContain(`/${bucketName}/in/%252e%252e/${day}.csv`);
      expectNoHarm(place);
    });
  });
});

describe('a column that does not exist', () => {
  it.each([
    ['a CSV file', async () => ({ kind: 'csv', path: 'bookings-{day}.csv' })],
    [
      'an API',
      async () => {
        const { origin } = await useBookingsApi((_, response) => sendJson(response, [{ ServiceId: 7 }]));
        return { kind: 'http', url: `${origin}/{day}` };
      },
    ],
    ['a module', async () => ({ kind: 'module', path: 'bookings.mjs' })],
  ])('finds nothing for %s, and fails the day', (_, openSource) => expectNoColumns(openSource));
});
