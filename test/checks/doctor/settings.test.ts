import { expect, it } from 'vitest';
import { settings } from '../../../src/checks/doctor/settings.js';
import { service, sftp } from '../../config/writing.js';
import { lines, look, makeApp } from './checked.js';

/** Nothing in it is worth a warning. */
const calm = {
  service: { ...service, apiKey: `\${KEY}`, accountId: `\${KEY}` },
  deadline: '06:00',
  notify: [{ kind: 'slack', url: `\${URL}` }],
};
const env = { KEY: 'k', URL: 'https://hooks.example.com/x', SMTP: 'smtp://night:hidden@mail.example.com' };
const findings = (changes: object = {}, variables: object = {}) =>
  look(settings, makeApp({ ...calm, ...changes }, {}, { ...env, ...variables }));
const warnings = async (changes: object, variables: object = {}) =>
  lines((await findings(changes, variables)).filter(({ verdict }) => verdict !== 'ok'));

it('doctor shows the day that a run takes and the next deadline, in the time of the zone', async () => {
  expect(lines(await findings())).toEqual([
    'ok clock: it is 2026-11-21 05:00 in Europe/Madrid: run takes 2026-11-20',
    'ok clock: the next deadline is 2026-11-21 06:00 (Europe/Madrid), for the bookings of 2026-11-20',
  ]);
});

const email = { kind: 'email', smtp: `\${SMTP}`, from: 'a@example.com', to: ['b@example.com'] };
const database = { kind: 'sql', query: 'SELECT :day', url: `\${DB}` };
const redis = { url: 'redis://cache', plaintext: 'allowed' };

it.each<[object, object, RegExp[]]>([
  [{ notify: [] }, {}, [/^warning notify: Nobody is told: no channel/]],
  [
    { source: { kind: 'csv', path: 'all.csv' } },
    {},
    [/^warning source: .*all.csv is the same for every day/],
  ],
  [{ verdicts: { maildir: 'mail' } }, {}, [/^warning verdicts: anybody's e-mails count/]],
  [
    { server: { host: '0.0.0.0' }, hook: { secret: `\${KEY}` } },
    { KEY: 'a-long-secret-of-the-hook-0123456789' },
    [
      /^warning configuration: .* without TLS: a caller that sends hook.secret/,
      /^warning users: .* are refused/,
    ],
  ],
  [
    { server: { host: '0.0.0.0', users: 'u' } },
    {},
    [/without TLS: the pages cross the network in plain text$/],
  ],
  [
    { notify: [{ ...email, plaintext: 'allowed' }] },
    {},
    [/^warning notify: email sends to mail.example.com without TLS: the password and its e-mails/],
  ],
  [
    { queue: redis, keys: 'keys' },
    {},
    [/^warning queue: workers on other machines cannot reach what is on this one: ledger, archive, keys$/],
  ],
  [
    { ledger: `\${DB}` },
    { DB: 'postgres://reader:s3cret@db.example.com/hotel?sslmode=disable' },
    [/^warning ledger: the connection to /],
  ],
  [{ verdicts: { maildir: 'mail', from: ['@service.example'] } }, {}, []],
  [{ deadline: 'none' }, {}, [/^warning clock: .* sets no deadline in the coming month/]],
])('doctor warns of risks: %j', async (changes, variables, expected) => {
  const found = await warnings(changes, variables);
  expect(found).toEqual(expected.map((words) => expect.stringMatching(words)));
  expect(JSON.stringify(found)).not.toMatch(/s3cret|hidden/);
});

it('doctor warns of databases whose connection is not protected, without their passwords', async () => {
  const allowed = (url: string) => warnings({ source: database }, { DB: url });
  for (const url of [
    'postgresql://reader:s3cret@10.0.0.7:5433/hotel?sslmode=disable',
    'mysql://reader:s3cret@db.example.com/hotel?sslmode=no-verify',
    'postgres:///hotel?host=db.example.com&user=reader&password=s3cret&sslmode=disable',
  ]) {
    const found = await allowed(url);
    expect(found).toEqual([expect.stringMatching(/^warning source: the connection to /)]);
    expect(found.join()).not.toMatch(/s3cret|reader/);
  }
  for (const url of [
    'postgres://reader:s3cret@db.example.com/hotel?sslmode=verify-full',
    'mysql://reader@127.0.0.1:3307/hotel',
    'postgres:///hotel?host=/var/run/postgresql',
  ])
    expect(await allowed(url)).toEqual([]);
});

it('doctor calls what init left to fill in wrong', async () => {
  const hostKey = `SHA256:${'A'.repeat(43)}`;
  const file = { sftp: { ...sftp, host: 'sftp.example.com', password: `\${KEY}`, hostKey } };
  const found = await warnings(
    { service: { ...calm.service, baseUrl: 'https://service.example.com/api/3.0' }, file },
    { KEY: 'change-me' },
  );
  expect(found.map((line) => line.replace(/ is still.*/, ''))).toEqual([
    ...['wrong configuration: service.baseUrl', 'wrong configuration: service.apiKey'],
    'wrong configuration: service.accountId',
    ...['host', 'password', 'hostKey'].map((name) => `wrong configuration: file.sftp.${name}`),
  ]);
});
