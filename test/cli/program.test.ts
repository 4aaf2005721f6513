import { describe, expect, it } from 'vitest';
import { type Handlers, helpShown, runCommandLine } from '../../src/cli/commands/program.js';
import { UsageError } from '../../src/review/refusals.js';
import { sourceKinds } from '../../src/sources/registry.js';

const globals = { config: 'hotel-review.yaml', json: false, stackTrace: false };
const ownGlobals = { config: 'other.yaml', json: true, logLevel: 'debug', stackTrace: true };
const usualSandbox = {
  port: 0,
  sftpPort: 0,
  hotels: 2_000,
  changes: 0,
  seed: 1,
  fault: [],
  errorShape: 'envelope',
  resultDelay: 2,
  resumeKeyDays: 14,
  lastPageKey: 'null',
  maxLimit: 1000,
  exportFolder: '',
  masterIdName: 'ServiceId',
  masterIdColumn: 'Service Mappings Id',
};
const ownOptions = '--config other.yaml --json --log-level debug --stack-trace';
const commands = [
  '',
  'run',
  'replay',
  'status',
  'show',
  'affected',
  'rejected',
  'refused',
  'posted',
  'suspects',
  'verify',
  'evidence',
  'report',
  'providers',
  'audit',
  'guest',
  'guest erase',
  'guest export',
  'guest purge',
  'privacy',
  'user',
  'user add',
  'user list',
  'user remove',
  'mappings',
  'mappings sync',
  'mappings show',
  'mappings stats',
  'hotels',
  'hotels load',
  'brands',
  'export',
  'export request',
  'export fetch',
  'export compare',
  'notify',
  'notify test',
  'work',
  'serve',
  'hook',
  'init',
  'doctor',
  'sandbox',
  'sandbox bookings',
];

describe('the command line', () => {
  it.each<[string, unknown[]]>([
    ['run', ['run', { dryRun: false }]],
    ['run --day 2026-11-20', ['run', { day: '2026-11-20', dryRun: false }]],
    ['run 2026-11-20', ['run', { day: '2026-11-20', dryRun: false }]],
    ['run yesterday', ['run', { day: 'yesterday', dryRun: false }]],
    ['run --day today', ['run', { day: 'today', dryRun: false }]],
    ['run today --day today', ['run', { day: 'today', dryRun: false }]],
    ['cancel 2026-11-20 --reason twice', ['cancel', '2026-11-20', { reason: 'twice' }]],
    ['hotels load h.csv.gz', ['loadHotels', 'h.csv.gz']],
    ['rejected yesterday', ['rejected', { day: 'yesterday' }]],
    ['refused', ['refused', {}]],
    ['posted --day today', ['posted', { day: 'today' }]],
    ['suspects today --day today', ['suspects', { day: 'today' }]],
    ['affected', ['affected', { unanswered: false }]],
    [
      'affected --from 2026-11-01 --to yesterday --check-in-before today',
      ['affected', { from: '2026-11-01', to: 'yesterday', checkInBefore: 'today' }],
    ],
    ['verify yesterday', ['verify', { day: 'yesterday' }]],
    ['report --day 2026-11-20', ['report', { day: '2026-11-20' }]],
    ['cancel --day yesterday --reason twice', ['cancel', 'yesterday', { reason: 'twice' }]],
    ['hook today', ['hook', { day: 'today' }]],
    [
      'rejected 2026-11-20 --csv r.csv --delimiter ;',
      ['rejected', { day: '2026-11-20', csv: 'r.csv', delimiter: ';' }],
    ],
    ['run --delivery file', ['run', { delivery: 'file', dryRun: false }]],
    ['run --dry-run --out bodies', ['run', { dryRun: true, out: 'bodies' }]],
    ['replay 2026-11-20', ['replay', '2026-11-20', { dryRun: false }]],
    [
      'replay --day yesterday --reason again --delivery body --dry-run --out bodies',
      ['replay', 'yesterday', { reason: 'again', delivery: 'body', dryRun: true, out: 'bodies' }],
    ],
    ['replay 2026-11-20 --late', ['replay', '2026-11-20', { mode: 'late', dryRun: false }]],
    [
      'replay 2026-11-01 --to 2026-11-20 --missing --dry-run',
      ['replay', '2026-11-01', { to: '2026-11-20', mode: 'missing', dryRun: true }],
    ],
    [
      'replay 2026-11-01 --failed --to yesterday --reason again',
      ['replay', '2026-11-01', { to: 'yesterday', mode: 'failed', reason: 'again', dryRun: false }],
    ],
    [
      'replay 2026-11-01 --all --reason again',
      ['replay', '2026-11-01', { mode: 'all', reason: 'again', dryRun: false }],
    ],
    ['status', ['status', { limit: 40 }]],
    ['status 2026-11-20', ['status', { day: '2026-11-20' }]],
    ['status --day today', ['status', { day: 'today' }]],
    [
      'status --from 2026-11-01 --to today --limit 7',
      ['status', { from: '2026-11-01', to: 'today', limit: 7 }],
    ],
    ['show BR-1042', ['show', { reference: 'BR-1042' }, { answers: false }]],
    ['show BR-1042 --answers', ['show', { reference: 'BR-1042' }, { answers: true }]],
    ['show --name Ana', ['show', { name: 'Ana' }, { answers: false }]],
    ['audit', ['audit', {}]],
    ['privacy', ['privacy']],
    ['audit --from 2026-11-01 --to today', ['audit', { from: '2026-11-01', to: 'today' }]],
    ['guest export BR-1042', ['exportGuest', 'BR-1042']],
    [
      'guest erase BR-1042 --reason ticket',
      ['eraseGuest', 'BR-1042', { reason: 'ticket', all: false, dryRun: false }],
    ],
    [
      'guest erase BR-1042 --all --dry-run --reason ticket',
      ['eraseGuest', 'BR-1042', { reason: 'ticket', all: true, dryRun: true }],
    ],
    ['guest purge', ['purgeGuests', { dryRun: false }]],
    ['keys rotate', ['rotateKeys']],
    ['keys forget 2026-11-20', ['forgetKey', '2026-11-20']],
    ['keys forget --day 2026-11-20', ['forgetKey', '2026-11-20']],
    ['user add ana --role team', ['addUser', 'ana', { role: 'team', withoutPassword: false }]],
    [
      'user add a@b --role admin --without-password',
      ['addUser', 'a@b', { role: 'admin', withoutPassword: true }],
    ],
    ['user list', ['listUsers']],
    ['user remove ana', ['removeUser', 'ana']],
    ['guest purge --dry-run', ['purgeGuests', { dryRun: true }]],
    ['init', ['init', { yes: false }]],
    [
      'init --yes --kind ndjson --path {day}.ndjson --timezone Europe/Madrid --base-url https://s.example/api/3.0',
      [
        'init',
        {
          yes: true,
          kind: 'ndjson',
          path: '{day}.ndjson',
          timezone: 'Europe/Madrid',
          baseUrl: 'https://s.example/api/3.0',
        },
      ],
    ],
    [
      'init --delivery file --sftp-host s.example --sftp-port 2222 --sftp-username acme --sftp-key-file key',
      [
        'init',
        {
          yes: false,
          delivery: 'file',
          sftpHost: 's.example',
          sftpPort: 2222,
          sftpUsername: 'acme',
          sftpKeyFile: 'key',
        },
      ],
    ],
    [
      'export request --email ops@example.com',
      ['requestExport', { email: 'ops@example.com', providers: [] }],
    ],
    [
      'export request --email ops@example.com --providers Bedlink,Roomex,Bedlink',
      ['requestExport', { email: 'ops@example.com', providers: ['Bedlink', 'Roomex'] }],
    ],
    ['export fetch', ['fetchExport', {}]],
    [
      'export fetch --since 2026-11-20T12:00:00Z --wait 0.5',
      ['fetchExport', { since: Date.UTC(2026, 10, 20, 12), wait: 0.5 }],
    ],
    ['export compare', ['compareExport', undefined, {}]],
    [
      'export compare f.csv --providers Bedlink --out g',
      ['compareExport', 'f.csv', { providers: ['Bedlink'], out: 'g' }],
    ],
    ['notify test', ['testChannels', undefined]],
    ['notify test ops', ['testChannels', 'ops']],
    ['doctor', ['doctor', {}]],
    ['doctor --day 2026-11-20', ['doctor', { day: '2026-11-20' }]],
    ['sandbox', ['sandbox', usualSandbox]],
    [
      'sandbox --folder box --port 8080 --sftp-port 2222 --hotels 40 --changes 20 --seed 4 ' +
        '--fault hang@3 --fault drop@5% --error-shape code-message --result-delay 0.5 --resume-key-days 0.25 ' +
        '--last-page-key fresh --max-limit 5000 --export-folder out/daily --master-id-name Id --master-id-column Number',
      [
        'sandbox',
        {
          folder: 'box',
          port: 8080,
          sftpPort: 2222,
          hotels: 40,
          changes: 20,
          seed: 4,
          fault: ['hang@3', 'drop@5%'],
          errorShape: 'code-message',
          resultDelay: 0.5,
          resumeKeyDays: 0.25,
          lastPageKey: 'fresh',
          maxLimit: 5000,
          exportFolder: 'out/daily',
          masterIdName: 'Id',
          masterIdColumn: 'Number',
        },
      ],
    ],
    ['verdicts import mail.eml', ['importVerdicts', ['mail.eml']]],
    ['verdicts import a.eml b.eml', ['importVerdicts', ['a.eml', 'b.eml']]],
    ['verdicts import -', ['importVerdicts', ['-']]],
    ['verdicts list --unknown', ['listVerdictMails', { unknown: true }]],
    [
      'sandbox bookings --out f',
      ['makeBookings', { count: 1_000, seed: 1, hotels: 2_000, wrongShare: 0.02, out: 'f' }],
    ],
    [
      'cases --state open --check-in-before 2026-12-01 --provider hotelbeds --csv f',
      ['cases', { state: 'open', checkInBefore: '2026-12-01', provider: 'hotelbeds', csv: 'f' }],
    ],
    ['case 17', ['case', 17, { kind: 'show' }]],
    ['case 17 --note called', ['case', 17, { kind: 'note', note: 'called' }]],
    ['case 17 report', ['case', 17, { kind: 'report', note: undefined }]],
    ['case 17 dismiss --note renamed', ['case', 17, { kind: 'dismiss', note: 'renamed' }]],
    ['case 17 reopen', ['case', 17, { kind: 'reopen', note: undefined }]],
    ['case 17 assign Bea', ['case', 17, { kind: 'assign', assignee: 'Bea', note: undefined }]],
    [
      'case 17 resolve BR-1 BR-2 --as rebooked --note called',
      ['case', 17, { kind: 'resolve', bookings: ['BR-1', 'BR-2'], as: 'rebooked', note: 'called' }],
    ],
    [
      'sandbox bookings --day 2026-11-20 --count 5 --seed 7 --hotels 30 --wrong-share 0.5 --format ndjson --out f',
      [
        'makeBookings',
        {
          ...{ day: '2026-11-20', count: 5, seed: 7, hotels: 30 },
          ...{ wrongShare: 0.5, format: 'ndjson', out: 'f' },
        },
      ],
    ],
  ])(
    'understands %s, with the options of all commands before it, after it or nowhere',
    async (line, call) => {
      expect(await start(line)).toMatchObject({ result: 7, calls: [[...call, globals]] });
      expect(await start(`${ownOptions} ${line}`)).toMatchObject({
        result: 7,
        calls: [[...call, ownGlobals]],
      });
      expect(await start(`${line} ${ownOptions}`)).toMatchObject({
        result: 7,
        calls: [[...call, ownGlobals]],
      });
    },
  );

  it('accepts a reason of several words, and trims it', async () => {
    const { calls } = await start(['replay', '2026-11-20', '--reason', '  a new export came ']);
    expect(calls).toMatchObject([['replay', '2026-11-20', { reason: 'a new export came' }, globals]]);
  });

  it.each<[string, string]>([
    ['runn', "unknown command 'runn' (did you mean run?); see `hotel-review --help`"],
    ['run --dryrun', "unknown option '--dryrun' (did you mean --dry-run?); see `hotel-review run --help`"],
    [
      'sandbox bookings --cout 5',
      "unknown option '--cout' (did you mean one of --count, --out?); see `hotel-review sandbox bookings --help`",
    ],
    [
      'sandbox booking',
      "unknown command 'sandbox booking' (did you mean sandbox bookings?); see `hotel-review sandbox --help`",
    ],
    [
      'sandbox booking --count 5',
      "unknown command 'sandbox booking' (did you mean sandbox bookings?); see `hotel-review sandbox --help`",
    ],
    ['sandbox --count 5', "unknown option '--count'; see `hotel-review sandbox --help`"],
    [
      'watch',
      '`watch` no longer exists: `mappings sync` examines the moves against stays ahead and opens their cases',
    ],
    ['--verbose', "unknown option '--verbose'; see `hotel-review --help`"],
    ['replay', 'replay needs a day: YYYY-MM-DD, today or yesterday; see `hotel-review replay --help`'],
    [
      'cancel --reason x',
      'cancel needs a day: YYYY-MM-DD, today or yesterday; see `hotel-review cancel --help`',
    ],
    [
      'guest export --name Ana',
      '`guest export --name` no longer exists: list the references with `show --name NAME`, then `guest export REF`',
    ],
    [
      'guest erase --name Ana --reason ticket',
      '`guest erase --name` no longer exists: list the references with `show --name NAME`, then `guest erase REF --reason TEXT`',
    ],
    [
      'report 2026-11-20 --markdown',
      '`report --markdown` no longer exists: use the text, or the page that `report D --html FILE` writes',
    ],
    [
      'affected 2026-11-20 --sort Price',
      '`affected --sort` no longer exists: guests in house come first, then the nearest check-in; `--csv FILE` writes your own columns to a file that you can sort',
    ],
    [
      'cases --json --sort=-Price',
      '`cases --sort` no longer exists: guests in house come first, then the nearest check-in; `--csv FILE` writes your own columns to a file that you can sort',
    ],
    [
      'case 17 --sort Price',
      '`case --sort` no longer exists: open bookings come first: of guests in house, then with the nearest check-in',
    ],
    [
      'suspects --sort -Price',
      '`suspects --sort` no longer exists: `--csv FILE` writes your own columns to a file that you can sort',
    ],
    ...[
      'cancel 20261120-k3f9xq7d --reason twice',
      'cancel --reason twice 20261120-k3f9xq7d',
      'cancel 20261120-k3f9xq7d',
    ].map((line): [string, string] => [
      line,
      '`cancel RUN` no longer exists: name the day, whose unfinished run `cancel D --reason TEXT` abandons',
    ]),
    ['show', 'expected either a booking reference or --name NAME; see `hotel-review show --help`'],
    ['case 0', 'expected the number of a case as `cases` lists it, got: 0; see `hotel-review case --help`'],
    [
      'case 17 dismiss',
      'dismiss needs --note: why the mapping is right after all; see `hotel-review case --help`',
    ],
    ['case 17 report now', 'unexpected argument after report: now; see `hotel-review case --help`'],
    [
      'case 17 assign',
      'assign takes one name; put quotes around one with spaces; see `hotel-review case --help`',
    ],
    [
      'case 17 resolve --as rebooked',
      'resolve takes the references of the bookings; see `hotel-review case --help`',
    ],
    [
      'case 17 resolve BR-1',
      'resolve needs --as rebooked|confirmed|cancelled; see `hotel-review case --help`',
    ],
    ['case 17 report --as rebooked', '--as is for resolve only; see `hotel-review case --help`'],
    [
      'case 17 close',
      'unknown action close: expected report, dismiss, reopen, assign or resolve; see `hotel-review case --help`',
    ],
    [
      'show BR-1042 --name Ana',
      'expected either a booking reference or --name NAME; see `hotel-review show --help`',
    ],
    ['run --config', "option '--config <file>' argument missing; see `hotel-review --help`"],
    [
      'run --delivery pigeon',
      "option '--delivery <how>' argument 'pigeon' is invalid: allowed choices are body, file; see `hotel-review run --help`",
    ],
    [
      'run --log-level loud',
      "option '--log-level <level>' argument 'loud' is invalid: allowed choices are fatal, error, warn, info, debug, " +
        'trace; see `hotel-review --help`',
    ],
    [
      'run --day 2026-02-30',
      "option '--day <day>' argument '2026-02-30' is invalid: expected a day as YYYY-MM-DD, today or yesterday, got: 2026-02-30; see " +
        '`hotel-review run --help`',
    ],
    [
      'replay 20.11.2026',
      'expected a day as YYYY-MM-DD, today or yesterday, got: 20.11.2026; see `hotel-review replay --help`',
    ],
    [
      'status tomorrow',
      'expected a day as YYYY-MM-DD, today or yesterday, got: tomorrow; see `hotel-review status --help`',
    ],
    [
      'status yesterday --from 2026-11-01',
      'expected one day, or a range with --from and --to; see `hotel-review status --help`',
    ],
    [
      'affected --to today',
      '--to needs --from: the first day of the range; see `hotel-review affected --help`',
    ],
    [
      'suspects today --day yesterday',
      'expected one day, got: today and --day yesterday; see `hotel-review suspects --help`',
    ],
    [
      'replay 2026-11-01 --to 2026-11-20 --reason again',
      '--to needs one of --missing, --failed, --all, --late: which days of the range; see `hotel-review replay --help`',
    ],
    [
      'replay 2026-11-01 --to 2026-11-20 --failed',
      'a range needs a reason: --reason TEXT; see `hotel-review replay --help`',
    ],
    ['run --out bodies', '--out requires --dry-run; see `hotel-review run --help`'],
    [
      'sandbox --port 70000',
      "option '--port <port>' argument '70000' is invalid: expected a whole number from 0 to 65535, got: 70000; see " +
        '`hotel-review sandbox --help`',
    ],
    [
      'sandbox bookings --json',
      '--json requires --out: without it, standard output holds the bookings; see `hotel-review sandbox bookings --help`',
    ],
    [
      'sandbox --changes-per-hour 60',
      '`sandbox --changes-per-hour` no longer exists: the sandbox does not change while it runs; start it again with ' +
        '`--changes N`',
    ],
    [
      'sandbox bookings --wrong-mappings=0.1',
      '`sandbox --wrong-mappings` no longer exists: use `sandbox bookings --wrong-share`, or `sandbox --changes` for ' +
        'mappings that move',
    ],
    [
      'sandbox bookings --world 2',
      '`sandbox --world` no longer exists: there is one world; `sandbox bookings --seed` makes other bookings',
    ],
    [
      'sandbox bookings --folder box',
      '`sandbox bookings --folder` no longer exists: leave it out, since every sandbox has the same world',
    ],
    ['sandbox bookings --port 8080', "unknown option '--port'; see `hotel-review sandbox bookings --help`"],
    [
      'sandbox bookings --wrong-share 20%',
      "option '--wrong-share <share>' argument '20%' is invalid: expected a number from 0 to 1, got: 20%; see " +
        '`hotel-review sandbox bookings --help`',
    ],
    ['replay 2026-11-20 --out bodies', '--out requires --dry-run; see `hotel-review replay --help`'],
    [
      'replay 2026-11-20 --late --failed --missing',
      'expected one of --missing, --failed, --all, --late, got: --missing --failed --late; see `hotel-review replay --help`',
    ],
    [
      'replay 2026-11-20 --late --dry-run --out bodies',
      '--out writes what one day would send; with --late, --dry-run only lists days; see `hotel-review replay --help`',
    ],
    ['replay 2026-11-20 --all', '--all needs a reason: --reason TEXT; see `hotel-review replay --help`'],
    [
      'run today --day 2026-11-20',
      'expected one day, got: today and --day 2026-11-20; see `hotel-review run --help`',
    ],
  ])('refuses %s and starts nothing', async (line, message) => {
    const { error, calls, written } = await start(line);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ message });
    expect({ calls, written }).toEqual({ calls: [], written: '' });
  });

  it('refuses a blank reason', async () => {
    const { error } = await start(['replay', '2026-11-20', '--reason', ' ']);
    expect(error).toBeInstanceOf(UsageError);
  });

  it.each([
    ['--help', 'Usage: hotel-review [options] [command]'],
    ['help', 'Usage: hotel-review [options] [command]'],
    ['run --help', 'Usage: hotel-review run [options] [day]'],
    ['help run', 'Usage: hotel-review run [options] [day]'],
    ['--json run -h', 'Usage: hotel-review run [options] [day]'],
    ['cancel --help', 'Usage: hotel-review cancel [options] [day]'],
    ['rejected --help', 'Usage: hotel-review rejected [options] [day]'],
    ['replay --help', 'Usage: hotel-review replay [options] [day]'],
    ['status --help', 'Usage: hotel-review status [options] [day]'],
    ['show --help', 'Usage: hotel-review show [options] [booking-reference]'],
    ['report --help', 'Usage: hotel-review report [options] [day]'],
    ['affected --help', 'Usage: hotel-review affected [options] [day]'],
    ['suspects --help', 'Usage: hotel-review suspects [options] [day]'],
    ['refused --help', 'Usage: hotel-review refused [options] [day]'],
    ['posted --help', 'Usage: hotel-review posted [options] [day]'],
    ['audit --help', 'Usage: hotel-review audit [options]'],
    ['privacy --help', 'Usage: hotel-review privacy [options]'],
    ['verify --help', 'Usage: hotel-review verify [options] [day]'],
    ['work --help', 'Usage: hotel-review work [options]'],
    ['serve --help', 'Usage: hotel-review serve [options]'],
    ['hook --help', 'Usage: hotel-review hook [options] [day]'],
    ['init --help', 'Usage: hotel-review init [options]'],
    ['doctor --help', 'Usage: hotel-review doctor [options] [day]'],
    ['sandbox --help', 'Usage: hotel-review sandbox [options] [command]'],
    ['sandbox bookings --help', 'Usage: hotel-review sandbox bookings [options] [day]'],
  ])('answers "%s" with a help text that contains an example', async (line, usage) => {
    const { result, calls, written } = await start(line);
    expect({ result, calls }).toEqual({ result: helpShown, calls: [] });
    expect(written).toContain(usage);
    expect(written).toMatch(/Examples?:\n {2}hotel-review /);
  });

  it.each(commands)(
    'keeps the help of "%s" within 80 columns, with the options of all commands',
    async (line) => {
      const { written } = await start(`${line} --help`);
      expect(written.split('\n').filter((text) => text.length > 80)).toEqual([]);
      for (const option of ['--config <file>', '--json', '--log-level <level>', '--stack-trace'])
        expect(written.split(`\n  ${option} `)).toHaveLength(2);
    },
  );

  it('groups the commands, the ten that everybody needs first, each in at most two lines', async () => {
    const { written } = await start('--help');
    const groups = written.split('\n\n').slice(3, 8);
    const namesOf = (group = '') => [...group.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name);
    expect(namesOf(groups[0]).join(' ')).toBe(
      'init doctor run replay status show affected cases serve sandbox',
    );
    expect(groups.map((group) => group.split('\n')[0])).toEqual([
      ...['The ten that you need:', 'Looking back:', 'Mappings:', 'Running:', "Guests' data and access:"],
    ]);
    for (const group of groups) expect(group).not.toMatch(/\n {3}.*\n {3}/);
  });

  it('offers every kind of source that there is', async () => {
    const { written } = await start('init --help');
    const choices = sourceKinds.map(({ name }) => `"${name}"`).join(', ');
    expect(written.replace(/\s+/g, ' ')).toContain(`(choices: ${choices})`);
  });

  it('shows for a subcommand only the options that it accepts', async () => {
    const { written } = await start('sandbox bookings --help');
    expect(written).toContain('--seed');
    expect(written).not.toContain('--sftp-port');
  });

  it.each(['', '--json'])('refuses "%s", which names no command', async (line) => {
    const { error, calls } = await start(line);
    expect(error).toBeInstanceOf(UsageError);
    expect(calls).toEqual([]);
  });

  it('refuses a group of commands without a command of it', async () => {
    const { error } = await start('mappings');
    expect(error).toMatchObject({ message: 'expected a command; see `hotel-review mappings --help`' });
  });

  it('prints its version', async () => {
    expect(await start('--version')).toEqual({ result: helpShown, calls: [], written: '1.2.3\n' });
  });

  it('passes on what a command throws', async () => {
    const fault = new Error('a mistake of ours');
    const failing: Handlers = { ...recordingHandlers([]), status: () => Promise.reject(fault) };
    const silent = { writeOut: () => {}, writeErr: () => {} };
    await expect(runCommandLine(['status'], '1.2.3', failing, silent)).rejects.toBe(fault);
  });
});

/** The outcome of a command line: handlers return 7 and record how they were called. */
async function start(line: string | readonly string[]) {
  const calls: unknown[][] = [];
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const words = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
  try {
    const result = await runCommandLine(words, '1.2.3', recordingHandlers(calls), {
      writeOut: write,
      writeErr: write,
    });
    return { result, calls, written };
  } catch (error) {
    return { error, calls, written };
  }
}

function recordingHandlers(calls: unknown[][]): Handlers {
  const remember =
    (name: string) =>
    async (...call: unknown[]) => {
      calls.push([name, ...call]);
      return 7;
    };
  return {
    run: remember('run'),
    replay: remember('replay'),
    status: remember('status'),
    show: remember('show'),
    affected: remember('affected'),
    cases: remember('cases'),
    case: remember('case'),
    rejected: remember('rejected'),
    refused: remember('refused'),
    posted: remember('posted'),
    cancel: remember('cancel'),
    suspects: remember('suspects'),
    verify: remember('verify'),
    evidence: remember('evidence'),
    report: remember('report'),
    providers: remember('providers'),
    audit: remember('audit'),
    exportGuest: remember('exportGuest'),
    eraseGuest: remember('eraseGuest'),
    purgeGuests: remember('purgeGuests'),
    rotateKeys: remember('rotateKeys'),
    forgetKey: remember('forgetKey'),
    privacy: remember('privacy'),
    addUser: remember('addUser'),
    listUsers: remember('listUsers'),
    removeUser: remember('removeUser'),
    syncMappings: remember('syncMappings'),
    showMapping: remember('showMapping'),
    mappingStats: remember('mappingStats'),
    loadHotels: remember('loadHotels'),
    brands: remember('brands'),
    requestExport: remember('requestExport'),
    fetchExport: remember('fetchExport'),
    compareExport: remember('compareExport'),
    init: remember('init'),
    doctor: remember('doctor'),
    work: remember('work'),
    serve: remember('serve'),
    hook: remember('hook'),
    sandbox: remember('sandbox'),
    makeBookings: remember('makeBookings'),
    importVerdicts: remember('importVerdicts'),
    listVerdictMails: remember('listVerdictMails'),
    testChannels: remember('testChannels'),
  };
}
