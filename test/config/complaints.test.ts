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
    expect(complainOfText('service: {}\nsource: {}')).toEqual([
      'service.baseUrl: expected an address such as https://service.example.com/api/3.0, got: nothing',
      'service.apiKey: expected a text of ASCII characters without spaces at its ends, got: nothing',
      'service.accountId: expected a text of ASCII characters without spaces at its ends, got: nothing',
      'source.kind: expected csv or ndjson or sql or http or module, got: nothing',
    ]);
  });

  it.each([
    ['- a list', 'the whole file: expected a group of settings, got: a list'],
    ['only a text', 'the whole file: expected a group of settings, got: a text'],
  ])('are one about the whole file if it is %s', (text, complaint) => {
    expect(complainOfText(text)).toEqual([complaint]);
  });
});

it('an incomplete canary names what is missing, and refuses texts that would not be sent as they are', () => {
  const attempt = () =>
    parse({ service, source, canary: { serviceId: 0, providerName: 'None', withinHours: 0 } });
  expect(complainOf(attempt).message.split('\n').slice(1)).toEqual([
    '  canary.serviceId: expected a whole number from 1 to 9007199254740991, got: 0',
    '  canary.providerName: expected a text without white space at its ends that does not stand for a missing value, got: None',
    '  canary.providerHotelId: expected a text without white space at its ends that does not stand for a missing value, got: nothing',
    '  canary.withinHours: expected a number above 0 and up to 8784, got: 0',
  ]);
  const pair = { serviceId: 1, providerName: 'X', providerHotelId: '1' };
  expect(parse({ service, source, canary: pair }).canary).toEqual({ ...pair, withinHours: 12 });
});

const inService = (settings: object) => ({ service: { ...service, ...settings } });
const inSource = (settings: object) => ({ source: { ...source, ...settings } });
const inSftp = (settings: object) => ({ file: { sftp: { ...sftp, ...settings } } });
const dateFormat =
  'source.dateFormat: expected a date-fns pattern that reads back the day it writes, such as dd/MM/yyyy (yyyy year, MM month, dd day), got: ';
const aPath =
  'source.path: expected a path with no braces but {day}, {day+1} and {day:PATTERN}, a date-fns pattern, got: ';
const hostKeys =
  'expected a fingerprint such as SHA256:… with 43 characters (ssh-keygen -lf shows it), or a list of them, got: ';

const noTls =
  'must use TLS, because it leads to another machine and would send password and data in plain text';
const useMode = 'put sslmode=verify-full into the address, as in …?sslmode=verify-full';
const allow = (name: string) =>
  `to connect like this on a network that you trust, write ${name}: { url: …, plaintext: allowed }`;

describe('a wrong value', () => {
  it.each<[object, string]>([
    [
      { server: { signIn: { header: 'x-user' }, proxies: ['127.0.0.1'] } },
      'server.users: expected a path, as signIn is set: only names in that file are let in, got: nothing',
    ],
    [
      { server: { users: 'u', signIn: { header: 'x-user' } } },
      'server.proxies: expected the addresses of the proxies, as signIn is set: its header is trusted only from them, got: nothing',
    ],
    [
      { server: { proxies: ['127.0.0.1', '10.0.0.0/40'] } },
      'server.proxies[1]: expected an address such as 127.0.0.1, or a network such as 10.0.3.0/24, got: 10.0.0.0/40',
    ],
    [
      { server: { users: 'u', signIn: { header: 'x user' }, proxies: ['::1'] } },
      'server.signIn.header: expected the name of a header such as x-forwarded-user, got: x user',
    ],
    [{ timezone: '' }, 'timezone: expected a time zone such as Europe/Madrid, got: an empty text'],
    [
      { timezone: 1 },
      'timezone: expected a time zone such as Europe/Madrid, got: 1 (digits need quotes to be a text)',
    ],
    [{ timezone: null }, 'timezone: expected a time zone such as Europe/Madrid, got: null'],
    [
      inService({ baseUrl: 'http://mapping.example.com' }),
      'service.baseUrl: must begin with https://; plain http:// is allowed for this machine only (localhost, 127.0.0.1, [::1])',
    ],
    [
      inService({ timeoutSeconds: '30' }),
      'service.timeoutSeconds: expected a number above 0 and up to 3600, got: "30"',
    ],
    [
      inService({ masterIdName: 'ProviderName' }),
      'service.masterIdName: expected a name that no other field has, got: ProviderName',
    ],
    [
      inService({ masterIdColumn: 'Master\nId' }),
      'service.masterIdColumn: expected a name without control characters, got: "Master\\nId"',
    ],
    [
      inService({ masterIdColumn: '' }),
      'service.masterIdColumn: expected a name without control characters, got: an empty text',
    ],
    [
      inService({ statusCodes: { 2030: 'again' } }),
      'service.statusCodes.2030: expected accepted or retryable or fatal or refused, got: again',
    ],
    [
      inService({ statusCodes: { soon: 'fatal' } }),
      'service.statusCodes.soon: expected a StatusCode such as 2030, got: soon',
    ],
    [
      inService({ statusCodes: [2030] }),
      'service.statusCodes: expected a group of StatusCodes, such as 2030: retryable, got: a list',
    ],
    [inSource({ path: '{date}.csv' }), `${aPath}{date}.csv`],
    [inSource({ path: '{day.csv' }), `${aPath}{day.csv`],
    [
      inSource({ columns: { ServiceId: '' } }),
      'source.columns.ServiceId: expected the name of a column, or false, got: an empty text',
    ],
    [
      inSource({ columns: { ServiceId: false } }),
      'source.columns.ServiceId: expected the name of a column, got: false',
    ],
    [
      inSource({ columns: { ProviderName: true } }),
      'source.columns.ProviderName: expected the name of a column, or false, got: true',
    ],
    [inSource({ dateFormat: 'YYYY-MM-DD' }), `${dateFormat}YYYY-MM-DD`],
    [inSource({ dateFormat: 'yyyy-MM' }), `${dateFormat}yyyy-MM`],
    [inSource({ dateFormat: 'dMyyyy' }), `${dateFormat}dMyyyy`],
    [inSource({ dateFormat: '' }), `${dateFormat}an empty text`],
    [
      inSource({ delimiter: ';;' }),
      'source.delimiter: expected one character such as , or ; or "\\t", got: ;;',
    ],
    [
      inSource({ delimiter: '"' }),
      'source.delimiter: expected one character such as , or ; or "\\t", got: "',
    ],
    [{ delivery: 'mail' }, 'delivery: expected body or file, got: mail'],
    [{ body: { batchSize: 0 } }, 'body.batchSize: expected a whole number from 1 to 10000, got: 0'],
    [{ body: { batchSize: 10_001 } }, 'body.batchSize: expected a whole number from 1 to 10000, got: 10001'],
    [{ body: { batchSize: 0.5 } }, 'body.batchSize: expected a whole number from 1 to 10000, got: 0.5'],
    [{ body: { concurrency: 257 } }, 'body.concurrency: expected a whole number from 1 to 256, got: 257'],
    [
      { body: { requestsPerSecond: -1 } },
      'body.requestsPerSecond: expected a number above 0 and up to 100000, got: -1',
    ],
    [
      { body: { requestsPerSecond: Number.POSITIVE_INFINITY } },
      'body.requestsPerSecond: expected a number above 0 and up to 100000, got: Infinity',
    ],
    [{ body: 500 }, 'body: expected a group of settings, got: a number'],
    [{ body: [500] }, 'body: expected a group of settings, got: a list'],
    [{ maxRejectedShare: 1.5 }, 'maxRejectedShare: expected a share from 0 to 1, got: 1.5'],
    [{ maxIncompleteShare: -1 }, 'maxIncompleteShare: expected a share from 0 to 1, got: -1'],
    [{ maxRefusedShare: '10 %' }, 'maxRefusedShare: expected a share from 0 to 1, got: 10 %'],
    [{ emptyDay: true }, 'emptyDay: expected succeed or fail, got: true'],
    [{ retry: { tries: 0 } }, 'retry.tries: expected a whole number from 1 to 100, got: 0'],
    [
      { retry: { capSeconds: {} } },
      'retry.capSeconds: expected a number above 0 and up to 86400, got: a group',
    ],
    [
      { delivery: 'file' },
      'file.sftp: expected a group with host, username, hostKey and a password or a privateKeyFile, as delivery is file, got: nothing',
    ],
    [
      { file: { sftp: { ...sftp, password: undefined } } },
      'file.sftp: must hold a password or a privateKeyFile',
    ],
    [
      inSftp({ host: 'sftp://sftp.example.com' }),
      'file.sftp.host: expected a host name or an address, without a port, got: sftp://…',
    ],
    [
      inSftp({ host: 'localhost:54123' }),
      'file.sftp.host: expected a host name or an address, without a port, got: localhost:54123',
    ],
    [inSftp({ port: 70_000 }), 'file.sftp.port: expected a whole number from 1 to 65535, got: 70000'],
    [inSftp({ hostKey: 'MD5:1f:2e' }), `file.sftp.hostKey: ${hostKeys}MD5:1f:2e`],
    [inSftp({ hostKey: [] }), `file.sftp.hostKey: ${hostKeys}a list`],
    [inSftp({ hostKey: 'SHA256:short' }), `file.sftp.hostKey: ${hostKeys}SHA256:short`],
    [{ file: { incomplete: 'drop' } }, 'file.incomplete: expected post or reject or leave-empty, got: drop'],
    [{ file: { maxPostedShare: 2 } }, 'file.maxPostedShare: expected a share from 0 to 1, got: 2'],
    [
      { file: { resultTimeoutMinutes: 0 } },
      'file.resultTimeoutMinutes: expected a number above 0 and up to 10080, got: 0',
    ],
    [{ ledger: 'mysql://u:hush@db/review' }, 'ledger: expected sqlite:PATH or postgres://…, got: a text'],
    [{ ledger: 'postgres://u:hu/sh@db:x' }, 'ledger: expected sqlite:PATH or postgres://…, got: a text'],
    // The text after such an @ would be shown as the name of a database.
    [
      { ledger: 'postgres://u:p@hush/sh@db/review' },
      'ledger: expected sqlite:PATH or postgres://…, got: a text',
    ],
    [
      { queue: 'redis://u:p@hush#sh@cache' },
      'queue: expected in-process, redis://… or rediss://…, got: a text',
    ],
    [{ ledger: 'postgres:/u:hush@db' }, 'ledger: expected sqlite:PATH or postgres://…, got: a text'],
    [{ ledger: './ledger.db' }, 'ledger: expected sqlite:PATH or postgres://…, got: a text'],
    [{ ledger: 'sqlite://host/ledger.db' }, 'ledger: expected sqlite:PATH or postgres://…, got: a text'],
    [{ queue: 'in-proces' }, 'queue: expected in-process, redis://… or rediss://…, got: a text'],
    [
      { ledger: 'postgres://u:hush@db/review' },
      `ledger: ${noTls}: ${useMode}; to connect like this on a network that you trust, write sslmode=disable into the address`,
    ],
    [
      { queue: 'redis://:hush@cache' },
      `queue: ${noTls}: begin the address with rediss://; ${allow('queue')}`,
    ],
    [{ queue: { url: 'redis://cache', plaintext: 'allowed', cert: 'x' } }, 'queue.cert: unknown setting'],
    [{ ledger: [] }, 'ledger: expected sqlite:PATH or postgres://…, got: a list'],
    [{ archive: 'gs://bucket' }, 'archive: expected a folder or s3://…, got: gs://…'],
    [{ archive: '' }, 'archive: expected a folder or s3://…, got: an empty text'],
    [
      { schedule: { cron: '61 2 * * *' } },
      'schedule.cron: expected five cron fields such as "30 2 * * *", got: 61 2 * * *',
    ],
    [
      { schedule: { cron: 'every night' } },
      'schedule.cron: expected five cron fields such as "30 2 * * *", got: every night',
    ],
    [
      { schedule: { catchUpDays: -1 } },
      'schedule.catchUpDays: expected a whole number from 0 to 366, got: -1',
    ],
    [
      { hashKey: 'ab'.repeat(20) },
      'hashKey: expected a random text of at least 16 characters, such as from `openssl rand -base64 32`, got: a text',
    ],
    [
      { hashKey: '0123456789'.repeat(3) },
      'hashKey: expected a random text of at least 16 characters, such as from `openssl rand -base64 32`, got: a text',
    ],
    [
      {
        source: { kind: 'csv', path: '{day}.csv', doneMarker: '{day}.done' },
        schedule: { today: '*/20 7-23 * * *' },
      },
      'schedule.today: must not be set with source.doneMarker: the current day is not marked as done before it is over',
    ],
    [
      { schedule: { today: 'hourly' } },
      'schedule.today: expected five cron fields such as "*/20 7-23 * * *", got: hourly',
    ],
    [
      { verdicts: { maildir: './inbox', from: ['@service.example', 'service.example'] } },
      'verdicts.from[1]: expected an address such as reviews@service.example, or a domain such as "@service.example", got: service.example',
    ],
    [
      { verdicts: { maildir: './inbox', authenticatedBy: 'mx.example.com' } },
      'verdicts.authenticatedBy: needs verdicts.from: whose e-mails count',
    ],
    [{ guestNameDays: 0 }, 'guestNameDays: expected a whole number from 1 to 36500, got: 0'],
    [
      { guestNameDays: 31, recordDays: 30 },
      'recordDays: must be at least guestNameDays, which is 31; it is 30',
    ],
    [
      { timezone: `Nowhere/${'x'.repeat(100)}` },
      `timezone: expected a time zone such as Europe/Madrid, got: Nowhere/${'x'.repeat(52)}…`,
    ],
  ])('%j is reported with what was expected', (settings, complaint) => {
    expect(complain({ ...settings })).toEqual([complaint]);
  });
});

describe('a group of several kinds', () => {
  it('is checked against what its kinds have in common if the kind is unknown', () => {
    const columns = { ServiceID: 'id' };
    expect(
      complain({ source: { kind: 'xml', dateFormat: 'x', delimiter: ';;', paht: 'y', columns } }),
    ).toEqual([
      'source.kind: expected csv or ndjson or sql or http or module, got: xml',
      expect.stringMatching(/^source\.columns\.ServiceID: expected .*ServiceId.*, got: ServiceID$/),
      `${dateFormat}x`,
      'source.paht: unknown setting; did you mean path?',
    ]);
  });

  it('is checked against its kind if that is known', () => {
    expect(
      complain({ source: { kind: 'ndjson', path: '{date}.csv', delimiter: ';', dateformat: 'x' } }),
    ).toEqual([
      `${aPath}{date}.csv`,
      'source.delimiter: unknown setting where kind is ndjson',
      'source.dateformat: unknown setting; did you mean dateFormat?',
    ]);
    expect(complain(inSource({ kind: ['csv'] }))).toEqual([
      'source.kind: expected csv or ndjson or sql or http or module, got: a list',
    ]);
  });

  it('is not a text', () => {
    expect(complain({ source: 'bookings.csv' })).toEqual([
      'source: expected a group with kind and path, url or query, got: a text',
    ]);
  });
});

describe('a wrong name', () => {
  it.each<[object, string]>([
    [{ bodi: {} }, 'bodi: unknown setting; did you mean body?'],
    [{ body: { batchsize: 5 } }, 'body.batchsize: unknown setting; did you mean batchSize?'],
    [
      { file: { sftp: { ...sftp, hostkeys: hostKey } } },
      'file.sftp.hostkeys: unknown setting; did you mean hostKey?',
    ],
    [
      inSource({ columns: { ServiceID: 'id' } }),
      expect.stringMatching(/^source\.columns\.ServiceID: expected .*ServiceId.*, got: ServiceID$/),
    ],
    [{ batchSize: 5 }, 'batchSize: unknown setting'],
    [{ body: { tries: 5 } }, 'body.tries: unknown setting'],
    [{ wibble: 5 }, 'wibble: unknown setting'],
    [{ 'my setting': 5 }, '["my setting"]: unknown setting'],
  ])('%j is reported with the likely name', (settings, complaint) => {
    expect(complain({ ...settings })).toEqual([complaint]);
  });

  it('does not reach the prototype', () => {
    expect(complainOfText('__proto__: { polluted: true }\nservice: {}\nsource: {}')).toContain(
      '__proto__: unknown setting',
    );
    expect(complain({ constructor: 1 })).toEqual(['constructor: unknown setting']);
  });
});

describe('a secret', () => {
  const canary = 'canary-7c1\u00e9';

  it('is only described by its type', () => {
    expect(complain(inService({ apiKey: canary, accountId: 4711 }))).toEqual([
      'service.apiKey: expected a text of ASCII characters without spaces at its ends, got: a text',
      'service.accountId: expected a text of ASCII characters without spaces at its ends, got: a number (digits need quotes to be a text)',
    ]);
  });

  it('includes any value from the environment', () => {
    const env = { WHERE: 'canary', KEY: 'canary\n' };
    expect(
      complain(
        { timezone: 'Europe/${WHERE}', body: { batchSize: '${WHERE}' }, ...inService({ apiKey: '${KEY}' }) },
        env,
      ),
    ).toEqual([
      'timezone: expected a time zone such as Europe/Madrid, got: a text from the environment',
      'service.apiKey: expected a text of ASCII characters without spaces at its ends, got: a text from the environment',
      'body.batchSize: expected a whole number from 1 to 10000, got: a text from the environment',
    ]);
  });
});
