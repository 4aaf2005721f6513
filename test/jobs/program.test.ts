import { describe, expect, it } from 'vitest';
import { commands } from '../../jobs/commands.js';
import { readCommandLine } from '../../jobs/program.js';
import { sourceKinds } from '../../src/sources/registry.js';
import { UsageError } from '../../src/text/usage-error.js';

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
/** Every command that there is, and those below it; the empty text is the program. */
const names = [
  '',
  ...(
    await Promise.all(
      Object.values(commands)
        .flatMap((group) => Object.entries(group))
        .map(async ([name, [, , load]]) => {
          const below = Object.keys((await load()).default.commands ?? {});
          return [name, ...below.map((inner) => `${name} ${inner}`)];
        }),
    )
  ).flat(),
];

describe('the command line', () => {
  it.each<[string, object]>([
    ['run', { dryRun: false, day: 'yesterday' }],
    ['run --day 2026-11-20', { dryRun: false, day: '2026-11-20' }],
    ['run 2026-11-20', { dryRun: false, day: '2026-11-20' }],
    ['run yesterday', { dryRun: false, day: 'yesterday' }],
    ['run --day today', { dryRun: false, day: 'today' }],
    ['run today --day today', { dryRun: false, day: 'today' }],
    ['cancel 2026-11-20 --reason twice', { reason: 'twice', day: '2026-11-20' }],
    ['hotels load h.csv.gz', { name: 'h.csv.gz' }],
    ['rejected yesterday', { force: false, day: 'yesterday' }],
    ['refused', { force: false, day: 'yesterday' }],
    ['posted --day today', { force: false, day: 'today' }],
    ['suspects today --day today', { force: false, day: 'today' }],
    ['affected', { unanswered: false, force: false }],
    [
      'affected --from 2026-11-01 --to yesterday --check-in-before today',
      { from: '2026-11-01', to: 'yesterday', checkInBefore: 'today', unanswered: false, force: false },
    ],
    ['verify yesterday', { day: 'yesterday' }],
    ['report --day 2026-11-20', { force: false, day: '2026-11-20' }],
    ['cancel --day yesterday --reason twice', { reason: 'twice', day: 'yesterday' }],
    ['hook today', { day: 'today' }],
    [
      'rejected 2026-11-20 --csv r.csv --delimiter ;',
      { csv: 'r.csv', delimiter: ';', force: false, day: '2026-11-20' },
    ],
    ['run --delivery file', { delivery: 'file', dryRun: false, day: 'yesterday' }],
    ['run --dry-run --out bodies', { dryRun: true, out: 'bodies', day: 'yesterday' }],
    ['replay 2026-11-20', { dryRun: false, day: '2026-11-20' }],
    [
      'replay --day yesterday --reason again --delivery body --dry-run --out bodies',
      { reason: 'again', delivery: 'body', dryRun: true, out: 'bodies', day: 'yesterday' },
    ],
    ['replay 2026-11-20 --late', { dryRun: false, day: '2026-11-20', mode: 'late' }],
    [
      'replay 2026-11-01 --to 2026-11-20 --missing --dry-run',
      { to: '2026-11-20', dryRun: true, day: '2026-11-01', mode: 'missing' },
    ],
    [
      'replay 2026-11-01 --failed --to yesterday --reason again',
      { to: 'yesterday', reason: 'again', dryRun: false, day: '2026-11-01', mode: 'failed' },
    ],
    [
      'replay 2026-11-01 --all --reason again',
      { reason: 'again', dryRun: false, day: '2026-11-01', mode: 'all' },
    ],
    ['status', { limit: 40 }],
    ['status 2026-11-20', { limit: 40, day: '2026-11-20' }],
    ['status --day today', { limit: 40, day: 'today' }],
    ['status --from 2026-11-01 --to today --limit 7', { from: '2026-11-01', to: 'today', limit: 7 }],
    ['show BR-1042', { sought: 'BR-1042', isName: false, answers: false }],
    ['show BR-1042 --answers', { sought: 'BR-1042', isName: false, answers: true }],
    ['show --name Ana', { sought: 'Ana', isName: true, answers: false }],
    ['audit', {}],
    ['privacy', {}],
    ['audit --from 2026-11-01 --to today', { from: '2026-11-01', to: 'today' }],
    ['guest export BR-1042', { reference: 'BR-1042' }],
    [
      'guest erase BR-1042 --reason ticket',
      { reason: 'ticket', all: false, dryRun: false, reference: 'BR-1042' },
    ],
    [
      'guest erase BR-1042 --all --dry-run --reason ticket',
      { reason: 'ticket', all: true, dryRun: true, reference: 'BR-1042' },
    ],
    ['guest purge', { dryRun: false }],
    ['keys rotate', {}],
    ['keys forget 2026-11-20', { day: '2026-11-20' }],
    ['keys forget --day 2026-11-20', { day: '2026-11-20' }],
    ['user add ana --role team', { role: 'team', withoutPassword: false, written: 'ana' }],
    [
      'user add a@b --role admin --without-password',
      { role: 'admin', withoutPassword: true, written: 'a@b' },
    ],
    ['user list', {}],
    ['user remove ana', { written: 'ana' }],
    ['guest purge --dry-run', { dryRun: true }],
    ['init', { yes: false }],
    [
      'init --yes --kind ndjson --path {day}.ndjson --timezone Europe/Madrid --base-url https://s.example/api/3.0',
      {
        kind: 'ndjson',
        path: '{day}.ndjson',
        timezone: 'Europe/Madrid',
        baseUrl: 'https://s.example/api/3.0',
        yes: true,
      },
    ],
    [
      'init --delivery file --sftp-host s.example --sftp-port 2222 --sftp-username acme --sftp-key-file key',
      {
        delivery: 'file',
        sftpHost: 's.example',
        sftpPort: 2222,
        sftpUsername: 'acme',
        sftpKeyFile: 'key',
        yes: false,
      },
    ],
    ['export request --email ops@example.com', { email: 'ops@example.com', providers: [] }],
    [
      'export request --email ops@example.com --providers Bedlink,Roomex,Bedlink',
      { email: 'ops@example.com', providers: ['Bedlink', 'Roomex'] },
    ],
    ['export fetch', {}],
    [
      'export fetch --since 2026-11-20T12:00:00Z --wait 0.5',
      { since: Date.UTC(2026, 10, 20, 12), wait: 0.5 },
    ],
    ['export compare', { force: false }],
    [
      'export compare f.csv --providers Bedlink --out g',
      { out: 'g', force: false, file: 'f.csv', providers: ['Bedlink'] },
    ],
    ['notify test', {}],
    ['notify test ops', { channel: 'ops' }],
    ['doctor', {}],
    ['doctor --day 2026-11-20', { day: '2026-11-20' }],
    ['sandbox', usualSandbox],
    [
      'sandbox --folder box --port 8080 --sftp-port 2222 --hotels 40 --changes 20 --seed 4 --fault hang@3 --fault drop@5% --error-shape code-message --result-delay 0.5 --resume-key-days 0.25 --last-page-key fresh --max-limit 5000 --export-folder out/daily --master-id-name Id --master-id-column Number',
      {
        folder: 'box',
        host: '127.0.0.1',
        port: 8080,
        sftpPort: 2222,
        hotels: 40,
        changes: 20,
        seed: 4,
        fault: ['hang@3', 'drop@5%'],
        errorShape: 'code-message',
        resultDelay: 0.5,
        emailForm: 'list',
        resumeKeyDays: 0.25,
        lastPageKey: 'fresh',
        maxLimit: 5000,
        emptyCells: 'refuse',
        exportFolder: 'out/daily',
        masterIdName: 'Id',
        masterIdColumn: 'Number',
      },
    ],
    ['verdicts import mail.eml', { files: ['mail.eml'] }],
    ['verdicts import a.eml b.eml', { files: ['a.eml', 'b.eml'] }],
    ['verdicts import -', { files: ['-'] }],
    ['verdicts list --unknown', { unknown: true }],
    [
      'sandbox bookings --out f',
      { count: 1000, seed: 1, hotels: 2000, wrongShare: 0.02, newVersions: 0, out: 'f' },
    ],
    [
      'cases --state open --check-in-before 2026-12-01 --provider hotelbeds --csv f',
      { state: 'open', checkInBefore: '2026-12-01', provider: 'hotelbeds', csv: 'f', force: false },
    ],
    ['case 17', { id: 17, request: { kind: 'show' } }],
    ['case 17 --note called', { id: 17, request: { kind: 'note', note: 'called' } }],
    ['case 17 report', { id: 17, request: { kind: 'report' } }],
    ['case 17 dismiss --note renamed', { id: 17, request: { kind: 'dismiss', note: 'renamed' } }],
    ['case 17 reopen', { id: 17, request: { kind: 'reopen' } }],
    ['case 17 assign Bea', { id: 17, request: { kind: 'assign', assignee: 'Bea' } }],
    [
      'case 17 resolve BR-1 BR-2 --as rebooked --note called',
      { id: 17, request: { kind: 'resolve', bookings: ['BR-1', 'BR-2'], as: 'rebooked', note: 'called' } },
    ],
    [
      'sandbox bookings --day 2026-11-20 --count 5 --seed 7 --hotels 30 --wrong-share 0.5 --format ndjson --out f',
      {
        count: 5,
        seed: 7,
        hotels: 30,
        wrongShare: 0.5,
        newVersions: 0,
        format: 'ndjson',
        out: 'f',
        day: '2026-11-20',
      },
    ],
  ])(
    'understands %s, with the options of all commands before it, after it or nowhere',
    async (line, input) => {
      expect(await start(line)).toMatchObject({ typed: { input, globals } });
      expect(await start(`${ownOptions} ${line}`)).toMatchObject({ typed: { input, globals: ownGlobals } });
      expect(await start(`${line} ${ownOptions}`)).toMatchObject({ typed: { input, globals: ownGlobals } });
    },
  );

  it('accepts a reason of several words, and trims it', async () => {
    const { typed } = await start(['replay', '2026-11-20', '--reason', '  a new export came ']);
    expect(typed).toMatchObject({ input: { reason: 'a new export came' } });
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
  ])('refuses %s', async (line, message) => {
    const { error, written } = await start(line);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ message });
    expect(written).toBe('');
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
    const { typed, error, written } = await start(line);
    expect({ typed, error }).toEqual({ typed: undefined, error: undefined });
    expect(written).toContain(usage);
    expect(written).toMatch(/Examples?:\n {2}hotel-review /);
  });

  it.each(names)(
    'keeps the help of "%s" within 80 columns, with the options of all commands',
    async (line) => {
      const { written } = await start(`${line} --help`);
      // Two columns more in texts that recorded faces hold.
      const widest = ['case', 'keys', 'verdicts'].includes(line) ? 82 : 80;
      expect(written.split('\n').filter((text) => text.length > widest)).toEqual([]);
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
    const { error } = await start(line);
    expect(error).toBeInstanceOf(UsageError);
  });

  it('refuses a group of commands without a command of it', async () => {
    const { error } = await start('mappings');
    expect(error).toMatchObject({ message: 'expected a command; see `hotel-review mappings --help`' });
  });

  it('prints its version', async () => {
    expect(await start('--version')).toEqual({ typed: undefined, written: '1.2.3\n' });
  });

  it('loads no file of a command whose name is only a value', async () => {
    expect(await start('show sandbox')).toMatchObject({ typed: { input: { sought: 'sandbox' } } });
  });
});

/** What a command line is read as. */
async function start(line: string | readonly string[]) {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const words = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
  try {
    const typed = await readCommandLine(words, '1.2.3', { writeOut: write, writeErr: write });
    return { typed, written };
  } catch (error) {
    return { error, written };
  }
}
