// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { describe, expect, it } from 'vitest';
import { complain, complainOf, complainOfText, hostKey, parse, service, sftp, source } from './writing.js';

describe('all problems', () => {
  it('are reported at once, in one message', () => {
    const attempt = () =>
      parse({
        timezone: 'Mars/Olympus',
        service: { baseUrl: 'ftp://mapping.example.com', apiKey: '${NOWHERE}', timeoutSeconds: 'long' },
        source: { kind: 'xml', path: 'x' },
        delivery: 'file',
        bodi: { batchSize: 5 },
        guestNameDays: 900,
      });
    expect(complainOf(attempt).message).toBe(
      [
        '/etc/agency/hotel-review.yaml cannot be used:',
        '  service.apiKey: expected a value in the environment variable NOWHERE, got: nothing',
        '  timezone: expected a time zone such as Europe/Madrid, got: Mars/Olympus',
        '  service.baseUrl: must begin with https://',
        '  service.accountId: expected a text of ASCII characters without spaces at its ends, got: nothing',
        '  service.timeoutSeconds: expected a number above 0 and up to 3600, got: long',
        '  source.kind: expected csv or ndjson or sql or http or module, got: xml',
        '  bodi: unknown setting; did you mean body?',
        '  recordDays: must be at least guestNameDays, which is 900; it is 800',
        '  file.sftp: expected a group with host, username, hostKey and a password or a privateKeyFile, as delivery is file, got: nothing',
      ].join('\n'),
    );
  });

  it('include every missing setting of an empty file', () => {
    const nothingThere = [
      'service: expected a group with baseUrl, apiKey and accountId, got: nothing',
      'source: expected a group with kind and path, url or query, got: nothing',
    ];
    expect(complainOfText('')).toEqual(nothingThere);
    expect(complainOfText('# all of it is a comment\nservice:\nsource:\n')).toEqual(nothingThere);
    expect(complainOfText('- a list')).toEqual(['the whole file: expected a group of settings, got: a list']);
  });
});

const inService = (settings: object) => ({ service: { ...service, ...settings } });
const inSource = (settings: object) => ({ source: { ...source, ...settings } });
const nineColumns = Object.fromEntries([...'abcdefghi'].map((name) => [name, name]));
const inSftp = (settings: object) => ({ file: { sftp: { ...sftp, ...settings } } });
const inHttp = (settings: object) => ({
  source: { kind: 'http', url: 'https://pms.example.com/?day={day}', ...settings },
});
const database = 'mysql://ann:hush@db/hotel?sslmode=verify-full';
const inSql = (settings: object) => ({
  source: { kind: 'sql', url: database, query: 'SELECT :day', ...settings },
});
const canary = { serviceId: 1, providerName: 'X', providerHotelId: '1' };
const slack = { kind: 'slack', url: 'https://hooks.slack.com/services/T0/hush' };
const channel = (settings: object) => ({ notify: [{ ...slack, ...settings }] });
const email = {
  kind: 'email',
  smtp: 'smtps://n:hush@smtp.example.com',
  from: 'n@a.example',
  to: ['o@a.example'],
};

const number = (to: number) => `expected a number above 0 and up to ${to}, got: `;
const whole = (from: number, to: number) => `expected a whole number from ${from} to ${to}, got: `;
const aTime = 'expected a time of day such as "06:00", or none, got: ';

// Where a value may hold a secret, hush stands for it.
it.each<[setting: string, settings: object, words: string]>([
  ['timezone', { timezone: '' }, 'expected a time zone such as Europe/Madrid, got: an empty text'],
  ['timezone', { timezone: 1 }, 'got: 1 (digits need quotes to be a text)'],
  ['timezone', { timezone: `Nowhere/${'x'.repeat(100)}` }, `got: Nowhere/${'x'.repeat(52)}…`],
  ['recordDays', { guestNameDays: 31, recordDays: 30 }, 'must be at least guestNameDays, which is 31; it is'],

  ['service.baseUrl', inService({ baseUrl: 'http://a.example' }), 'plain http:// is allowed for this'],
  ['service.accountId', inService({ accountId: 4711 }), 'got: a number (digits need quotes to be a text)'],
  ['service.masterIdName', inService({ masterIdName: 'ProviderName' }), 'a name that no other field has'],
  ['service.masterIdColumn', inService({ masterIdColumn: 'a\nb' }), 'a name without control characters'],
  ['service.statusCodes.2030', inService({ statusCodes: { 2030: 'again' } }), 'accepted or retryable or'],
  ['service.statusCodes.soon', inService({ statusCodes: { soon: 'fatal' } }), 'a StatusCode such as 2030,'],
  ['service.statusCodes', inService({ statusCodes: [2030] }), 'a group of StatusCodes, such as 2030:'],

  ['source', { source: 'bookings.csv' }, 'a group with kind and path, url or query, got: a text'],
  ['source.path', inSource({ path: '{date}.csv' }), 'no braces but {day}, {day+1} and {day:PATTERN}'],
  ['source.path', inSource({ path: "s3://bucket/{day:'../'yyyy}" }), 'a path with no braces but'],
  ['source.path', inSource({ path: 's3://id:hush@bucket/{day}' }), 'a path, s3://BUCKET/KEY or sftp:'],
  ['source.path', { source: { kind: 'module' } }, 'expected a path, got: nothing'],
  ['source.sftp', inSource({ path: 'sftp://drop/{day}' }), 'a group with username, hostKey and a password'],
  ['source.sftp', inSource({ doneMarker: 'sftp://drop/{day}' }), 'a group with username, hostKey and a'],
  ['source.sftp', inSource({ path: 'sftp://d/{day}', sftp: { username: 'u', hostKey } }), 'must hold a'],
  ['source.columns.ServiceId', inSource({ columns: { ServiceId: '' } }), 'the name of a column, or false'],
  ['source.columns.ServiceId', inSource({ columns: { ServiceId: false } }), 'the name of a column, got:'],
  ['source.columns.ServiceID', inSource({ columns: { ServiceID: 'id' } }), 'got: ServiceID'],
  ['source.dateFormat', inSource({ dateFormat: 'YYYY-MM-DD' }), 'a date-fns pattern that reads back the day'],
  ['source.dateFormat', inSource({ dateFormat: 'dMyyyy' }), 'got: dMyyyy'],
  ['source.delimiter', inSource({ delimiter: ';;' }), 'one character such as , or ; or "\\t", got: ;;'],
  ['source.delimiter', { source: { ...source, kind: 'ndjson', delimiter: ';' } }, 'where kind is ndjson'],
  ['schedule.today', { ...inSource({ doneMarker: '{day}.x' }), schedule: { today: '*/20 * * * *' } }, 'must'],

  ['source.where.Status', inSource({ where: { Status: [] } }), 'at least one value'],
  [
    'source.where.Ref.not.startsWith[0]',
    inSource({ where: { Ref: { not: { startsWith: [' '] } } } }),
    'a text such as TEST-',
  ],
  ['source.missing[0]', inSource({ missing: [' '] }), 'a text such as UNKNOWN'],
  ['source.keep.REASON', inSource({ keep: { REASON: 'x' } }), 'a name that lists do not use already'],
  ['source.keep', inSource({ keep: nineColumns }), 'at most 8 columns'],

  ['source.query', inSql({ query: 'SELECT 1' }), 'the query has none of :day, :dayStart and :dayEnd'],
  ['source.query', inSql({ query: undefined }), 'expected a query, got: nothing'],
  ['source.url', inSql({ url: 'oracle://ann:hush@db/hotel' }), 'expected postgres://…, mysql://… or'],
  ['source.url', inSql({ url: 'mysql://ann:hush@db/hotel?ssl=true' }), 'only sslmode and socket are known'],
  ['source.url', inSql({ url: 'mysql://ann:hush@db/hotel?sslmode=on' }), 'must be disable, no-verify,'],
  ['source.url', inSql({ url: 'mysql://ann:hush%@db/hotel' }), 'not followed by two hexadecimal digits'],
  ['source.url', inSql({ url: 'postgres://ann:p@hush/x@db/hotel' }), 'the address has an @ after the host'],
  ['source.url', inSql({ url: 'postgres://ann:hush/x@db/hotel' }), 'in a user or a password are written %40'],

  ['source.url', inHttp({ url: 'http://pms.example.com/{day}' }), 'must begin with https://'],
  ['source.url', inHttp({ url: 'https://pms.example.com/{dai}?key=hush' }), 'has an unknown placeholder'],
  ['source.url', inHttp({ url: 'https://pms.example.com/?key=hush' }), 'names no day'],
  ['source.headers["X Key"]', inHttp({ headers: { 'X Key': 'hush' } }), 'the name of a header that can be'],
  ['source.headers.Host', inHttp({ headers: { Host: 'hush' } }), 'the name of a header that can be set'],
  ['source.headers.X-Key', inHttp({ headers: { 'X-Key': ' hush' } }), 'a text of ASCII characters'],
  ['source', inHttp({ pagination: { kind: 'page', parameter: 'day' } }), 'has the parameter day already'],
  ['source.path', inHttp({ path: 'x.csv' }), 'unknown setting where kind is http'],

  ['body', { body: 500 }, 'expected a group of settings, got: a number'],
  ['body.batchSize', { body: { batchSize: 0 } }, `${whole(1, 10_000)}0`],
  ['maxRejectedShare', { maxRejectedShare: 1.5 }, 'expected a share from 0 to 1, got: 1.5'],
  ['retry.capSeconds', { retry: { capSeconds: {} } }, `${number(86_400)}a group`],

  ['file.sftp', { file: { sftp: { ...sftp, password: undefined } } }, 'must hold a password or a'],
  ['file.sftp.host', inSftp({ host: 'sftp://hush.example' }), 'without a port, got: sftp://…'],
  ['file.sftp.host', inSftp({ host: 'localhost:54123' }), 'a host name or an address, without a port'],
  ['file.sftp.hostKey', inSftp({ hostKey: 'MD5:1f:2e' }), 'a fingerprint such as SHA256:… with 43'],
  ['file.sftp.hostKey', inSftp({ hostKey: 'SHA256:short' }), 'got: SHA256:short'],

  ['ledger', { ledger: 'mysql://u:hush@db/review' }, 'expected sqlite:PATH or postgres://…, got: a text'],
  ['ledger', { ledger: 'postgres://u:hu/sh@db:x' }, 'expected sqlite:PATH or postgres://…, got: a text'],
  // The text after such an @ would be shown as the name of a database.
  ['ledger', { ledger: 'postgres://u:p@hush/sh@db/review' }, 'expected sqlite:PATH or postgres://…, got: a'],
  ['ledger', { ledger: 'sqlite://host/ledger.db' }, 'expected sqlite:PATH or postgres://…, got: a text'],
  ['ledger', { ledger: 'postgres://u:hush@db/review' }, 'must use TLS, because it leads to another machine'],
  ['queue', { queue: 'redis://u:p@hush#sh@cache' }, 'expected in-process, redis://… or rediss://…, got: a'],
  ['queue', { queue: 'redis://:hush@cache' }, 'write queue: { url: …, plaintext: allowed }'],
  ['queue.cert', { queue: { url: 'redis://cache', plaintext: 'allowed', cert: 'x' } }, 'unknown setting'],
  ['archive', { archive: 'gs://bucket' }, 'expected a folder or s3://…, got: gs://…'],
  ['archive', { archive: 's3://id:hush@bucket' }, 'expected a folder or s3://…'],
  ['archive', { archive: 's3://bucket/../x' }, 'expected a folder or s3://…'],

  ['schedule.cron', { schedule: { cron: '61 2 * * *' } }, 'five cron fields such as "30 2 * * *", got: 61 2'],
  ['deadline', { deadline: '6:00' }, `${aTime}6:00`],
  ['deadline', { deadline: 600 }, 'such as "06:00", or a group with at, got: 600'],
  ['deadline.at', { deadline: {} }, `${aTime}nothing`],
  ['deadline.exception', { deadline: { at: '06:00', exception: {} } }, 'did you mean exceptions?'],
  ['deadline.exceptions.2026-02-30', { deadline: { at: 'none', exceptions: { '2026-02-30': '' } } }, 'a day'],
  [
    'deadline.exceptions.2026-12-25',
    { deadline: { at: 'none', exceptions: { '2026-12-25': null } } },
    `${aTime}null`,
  ],

  ['hashKey', { hashKey: 'ab'.repeat(20) }, 'a random text of at least 16 characters'],
  ['hashKey', { hashKey: '0123456789'.repeat(3) }, 'a random text of at least 16 characters'],
  ['server.users', { server: { signIn: { header: 'x-user' }, proxies: ['::1'] } }, 'only names in that file'],
  ['server.proxies', { server: { users: 'u', signIn: { header: 'x' } } }, 'its header is trusted only from'],
  ['server.proxies[1]', { server: { proxies: ['127.0.0.1', '10.0.0.0/40'] } }, 'got: 10.0.0.0/40'],
  ['server.signIn.header', { server: { users: 'u', signIn: { header: 'x user' }, proxies: ['::1'] } }, 'the'],
  ['server.publicUrl', { server: { publicUrl: 'http://a.example' } }, 'must begin with https://; plain'],
  ['server.publicUrl', { server: { publicUrl: 'https://a.example/x' } }, 'must not hold a path or a query'],
  ['server.publicUrl', { server: { publicUrl: 'a.example' } }, 'an address such as'],
  [
    'verdicts',
    { verdicts: { maildir: 'm', imap: { host: 'imap.a.example', user: 'u', password: 'hush' } } },
    'only one of imap and maildir',
  ],
  ['verdicts.from[1]', { verdicts: { maildir: 'm', from: ['@a.example', 'a.example'] } }, 'got: a.example'],
  ['verdicts.authenticatedBy', { verdicts: { maildir: 'm', authenticatedBy: 'mx.a.example' } }, 'needs'],
  ['canary.providerName', { canary: { ...canary, providerName: 'None' } }, 'does not stand for a missing'],
  ['canary.providerHotelId', { canary: { ...canary, providerHotelId: undefined } }, 'got: nothing'],

  ['notify[0].on[0]', channel({ on: ['day-lost'] }), 'expected night, or the name of an event such as'],
  ['notify[0].on', channel({ on: [] }), 'expected at least one event, got: a list'],
  ['notify[0].minimum', channel({ minimum: 'bad' }), 'expected info or warning or critical, got: bad'],
  ['notify[0].name', channel({ name: 'the ops' }), 'a name of letters, digits, dots, - and _, got: the ops'],
  [
    'notify[1].name',
    { notify: [slack, { ...slack, url: 'https://a.example' }] },
    'another one is called slack, too',
  ],
  ['notify[0].minimun', channel({ minimun: 'info' }), 'unknown setting; did you mean minimum?'],
  ['notify[0].secret', { notify: [{ ...slack, kind: 'webhook' }] }, 'at least 24 random bytes'],
  ['notify[0].secret', { notify: [{ ...slack, kind: 'webhook', secret: 'hush' }] }, 'got: a text'],
  ['notify[0].url', channel({ url: 'http://hooks.example.com/hush' }), 'must begin with https://; plain'],
  ['notify[0].url', channel({ url: 'https://me:hush@example.com' }), 'must not hold a user name or a'],
  ['notify[0].url', channel({ url: 'ftp://example.com/hush' }), 'expected an address such as'],
  ['notify[0].smtp', { notify: [{ ...email, smtp: 'imaps://n:hush@a.example' }] }, 'expected an address'],
  ['notify[0].smtp', { notify: [{ ...email, smtp: 'smtp://n:hush/1@a.example' }] }, 'expected an address'],
  ['notify[0].smtp', { notify: [{ ...email, smtp: 'smtp://:hush@a.example' }] }, 'expected an address such'],
  ['notify[0].to[0]', { notify: [{ ...email, to: ['a@a.example, hush@a.example'] }] }, 'an address such as'],
  ['notify[0].from', { notify: [{ ...email, from: 'a@a.example\nBcc: hush@a.example' }] }, 'an address'],
  ['notify[0].routingKey', { notify: [{ kind: 'pagerduty', routingKey: 'hush\n' }] }, 'a text of ASCII'],

  ['body.batchsize', { body: { batchsize: 5 } }, 'unknown setting; did you mean batchSize?'],
  ['wibble', { wibble: 5 }, 'unknown setting'],
  ['["my setting"]', { 'my setting': 5 }, 'unknown setting'],
  ['constructor', { constructor: 1 }, 'unknown setting'],
])('%s as in %j is reported with what was expected', (setting, settings, words) => {
  const problems = complain({ ...settings });
  expect(problems).toEqual([expect.stringContaining(words)]);
  expect(problems[0]).toMatch(new RegExp(`^${setting.replaceAll(/[^\w ]/g, '\\$&')}: `));
  expect(problems[0]).not.toMatch(/hush|hu\/sh/);
});

it('the ledger may keep its records as long as names, and no longer', () => {
  expect(complain({ guestNameDays: 31, recordDays: 31 })).toEqual([]);
});

it.each([
  ['http://s3.example.com', 'must begin with https'],
  ['s3.example.com', 'is not a URL'],
  ['https://id:hush@s3.example.com', 'must not contain a user name'],
  ['https://s3.example.com/bucket', 'must end with the host'],
  ['https://s3.example.com?x=hush', 'must end with the host'],
])('the endpoint of buckets %s is refused', (endpoint, words) => {
  const problems = complain({}, { AWS_ENDPOINT_URL_S3: endpoint });
  expect(problems).toEqual([expect.stringContaining(words)]);
  expect(problems.join()).not.toContain('hush');
});

it('a group of an unknown kind is checked against what its kinds have in common', () => {
  expect(complain({ source: { kind: 'xml', dateFormat: 'x', delimiter: ';;', paht: 'y' } })).toEqual([
    'source.kind: expected csv or ndjson or sql or http or module, got: xml',
    expect.stringContaining('source.dateFormat: '),
    'source.paht: unknown setting; did you mean path?',
  ]);
});

it('a deadline reports all mistakes of its group at once', () => {
  expect(complain({ deadline: { at: 'soon', fridays: 7, exceptions: { today: 'none' } } })).toHaveLength(3);
});
