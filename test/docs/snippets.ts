import { appendFile, cp, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Night, placeHotelsFile } from './night.js';

/** A command of the pages that is run on a night, and what it does there. */
export interface Effect {
  readonly call: string;
  readonly exitCode?: number;
  /** In what it prints. */
  readonly prints: RegExp;
  /** A file. */
  readonly writes?: string;
  readonly before?: (night: Night) => Promise<unknown>;
  /** What others received. */
  readonly after?: (night: Night) => void;
}

const isDone = /is already done: run 20261120-/;
const wasSent = /run 20261120-\w+ succeeded[\s\S]* delivered +299\n/;
const wrongPair = /BR-1042 [\s\S]*BR-1043 /;

/** In this order: each finds what those before it left. */
export const effects: readonly Effect[] = [
  // Before the first night.
  { call: 'doctor', prints: /\d+ ok, \d+ warnings?, 0 wrong/ },
  { call: 'doctor --day 2026-11-20', prints: /first 5 records as understood/ },
  { call: 'run 2026-11-20 --dry-run', prints: /nothing was sent[\s\S]*"BookingClientName":"\*\*\*"/ },
  { call: 'notify test ops', prints: /^ops: accepted/, after: hasNotified(1) },
  { call: 'notify test', prints: /^ops: accepted/, after: hasNotified(2) },
  { call: 'mappings sync --new-hotels new.ndjson', prints: /added +7,002\n/, writes: 'new.ndjson' },
  { call: 'mappings sync', prints: /up to date/ },
  { call: 'mappings stats', prints: /Bedlink +1,168\n/ },
  { call: 'mappings show Bedlink BL-1042', prints: /: master hotel \d+/ },
  { call: 'brands --csv brands.csv', prints: /All 86 brands/, writes: 'brands.csv' },
  { call: 'export fetch --wait 0', exitCode: 3, prints: /export/ },
  { call: 'export request --email ops@example.com --providers Bedlink,Sakura', prints: /Bedlink/ },
  { call: 'export request --email ops@example.com', prints: /export/ },
  { call: 'hotels load acme_hotels_0b2f.csv', prints: /content of [\d,]+ hotels/, before: placeHotelsFile },

  // A day that fails and is given up, and the night.
  { call: 'cancel 2026-11-20 --reason "wrong export"', prints: /cancelled/, before: failOnce },
  { call: 'run 2026-11-20', prints: wasSent },
  { call: 'run', prints: /succeeded[\s\S]* delivered +297\n/ },
  { call: 'run --quiet', prints: /^(?:$|warning: without a run)/ },
  { call: 'run 2026-11-20 --accept-volume', prints: isDone },
  { call: 'run 2026-11-20 --accept-affected', prints: isDone },
  { call: 'run 2026-11-20 --accept-repeated', prints: isDone },
  { call: 'run 2026-11-20 --unknown-archive', prints: /belongs to this ledger from now on/ },
  { call: 'run 2026-11-20 --stack-trace --log-level debug', prints: isDone },
  {
    call: 'run --metrics-file /var/lib/prometheus/node-exporter/hotel-review.prom',
    prints: /is already done/,
    writes: 'hotel-review.prom',
  },

  // What became of it.
  { call: 'status', prints: /2026-11-20 [\s\S]*succeeded/ },
  { call: 'status 2026-11-20', prints: wasSent },
  { call: 'status $day', prints: wasSent },
  { call: 'status yesterday', prints: /delivered +297\n/ },
  { call: 'status --config /etc/hotel-review/hotel-review.yaml', prints: /2026-11-20/ },
  { call: 'report', prints: /bookings on an incorrect mapping/ },
  { call: 'report 2026-11-20', prints: wrongPair },
  { call: 'verify 2026-11-20', prints: /ok +20112026_Result\.csv/ },
  { call: 'affected', prints: /affected bookings: 6 / },
  { call: 'affected 2026-11-20', prints: wrongPair },
  { call: 'affected --unanswered', prints: /Every booking of the file has a verdict/ },
  { call: 'affected 2026-11-20 --unanswered', prints: /Every booking of the file has a verdict/ },
  { call: 'suspects', prints: /suspects: 6 bookings/ },
  { call: 'suspects 2026-11-20 --csv doubt.csv', prints: /suspects: 6 bookings/, writes: 'doubt.csv' },
  { call: 'refused', prints: /refused/ },
  { call: 'refused 2026-11-20', prints: /refused/ },
  { call: 'posted', prints: /11/ },
  { call: 'posted 2026-11-20', prints: /11/ },
  { call: 'rejected', prints: /service-id-missing/ },
  { call: 'rejected 2026-11-20', prints: /service-id-missing/ },
  { call: 'show BR-1042', prints: /its mapping is incorrect/ },
  { call: 'show BR-1042 --answers', prints: /the service said: The file was accepted/ },
  { call: 'show --name "Ana Silva"', prints: /^BR-1042: [\s\S]*^BR-1043: /m },
  { call: 'evidence BR-1042 --out BR-1042.zip', prints: /files about/, writes: 'BR-1042.zip' },
  {
    call: 'providers --from 2026-10-01 --to 2026-10-31 --csv october.csv',
    exitCode: 1,
    prints: /no booking was sent/,
  },

  // Again, and late.
  { call: 'replay 2026-11-20 --late', prints: /Nothing new since/ },
  {
    call: 'replay 2026-11-20 --late --reason "late bookings of a branch"',
    prints: / delivered +\d*[1-9]\d*\n/,
    before: addLateBooking,
  },
  { call: 'replay 2026-11-20', prints: /run 20261120-\w+ succeeded/ },
  { call: 'replay 2026-11-20 --reason "corrected export"', prints: /reason: corrected export/ },
  { call: 'replay 2026-11-20 --reason "no result"', prints: /reason: no result/ },
  {
    call: 'replay 2026-11-01 --to 2026-11-20 --missing --reason "outage" --dry-run',
    prints: /19 days of 20 would be reviewed; nothing was sent/,
  },
  {
    call: 'replay 2026-11-10 --to 2026-11-20 --missing --reason "restored ledger" --dry-run',
    prints: /10 days of 11 would be reviewed; nothing was sent/,
  },
  // Their exports are not there.
  {
    call: 'replay 2026-11-10 --to 2026-11-20 --missing --reason "restored ledger"',
    exitCode: 1,
    prints: /failed/,
  },
  { call: 'replay 2026-11-01 --to 2026-11-20 --missing --reason "outage"', exitCode: 1, prints: /failed/ },
  {
    call: 'replay 2026-11-10 --to 2026-11-20 --failed --reason "restored ledger"',
    exitCode: 1,
    prints: /failed/,
  },
  { call: 'replay 2026-11-01 --to 2026-11-20 --failed --reason "outage"', exitCode: 1, prints: /failed/ },
  {
    call: 'replay 2026-11-01 --to 2026-11-20 --all --reason "new mappings"',
    exitCode: 1,
    prints: /2026-11-20 +[\w-]+ +succeeded +300 /,
  },

  // Cases, e-mails, people.
  { call: 'cases', prints: / Bedlink +BL-1 / },
  { call: 'cases --left', prints: /No cases with bookings that nobody resolved/ },
  { call: 'case 17', prints: wrongPair },
  { call: 'case 17 report --note "ticket 4711"', prints: /reported/ },
  { call: 'case 17 assign Bea', prints: /Bea/ },
  {
    call: 'case 17 resolve BR-1042 BR-1043 --as rebooked --note "moved to the right hotel"',
    prints: /rebooked/,
  },
  { call: 'case 17 dismiss --note "the hotel was renamed"', prints: /dismissed/ },
  { call: 'verdicts import mails/*.eml', prints: /BR-\d+|named|e-mail/, before: collectMails },
  { call: 'verdicts list --unknown', prints: /outcome +found in/ },
  { call: 'user add ana --role admin', prints: /^ana is added as admin/, writes: 'users.json' },
  { call: 'user add ben --role team', prints: /^ben is added as team/ },
  { call: 'user add eva@example.com --role operator --without-password', prints: /is added as operator/ },
  { call: 'user list', prints: /ana +admin/ },
  { call: 'user remove ben', prints: /^ben is removed/ },
  { call: 'guest export BR-1042', prints: /"BookingClientName": "Ana Silva"/ },
  { call: 'guest erase BR-1042 --reason "request of 2026-11-20" --dry-run', prints: /^name would be erased/ },
  { call: 'guest erase BR-1042 --reason "request of 2026-11-20"', prints: /^name erased at/ },
  { call: 'guest purge --dry-run', prints: /would be removed from/ },
  { call: 'guest purge', prints: /removed from/ },

  // The sandbox's own configuration.
  { call: 'sandbox bookings --day $day', prints: /^"?ServiceId/ },
  {
    call: 'sandbox bookings --day 2026-11-20 --count 5000 --out sandbox/bookings-2026-11-20.csv',
    prints: /5,000/,
    writes: 'sandbox/bookings-2026-11-20.csv',
  },
  { call: 'run 2026-11-20 --delivery file --config sandbox/sandbox.yaml', prints: /succeeded/ },
  { call: 'affected 2026-11-20 --config sandbox/sandbox.yaml', prints: /affected bookings: \d/ },
  { call: 'cases --config sandbox/sandbox.yaml', prints: /cases with open bookings/ },
];

/** Commands of the pages that wait, or run until they are stopped, and the tests that run them. */
export const parsedOnly: readonly { readonly calls: readonly string[]; readonly checkedBy: string }[] = [
  {
    calls: ['init', 'init exports/bookings-2026-11-20.csv', 'init --kind postgres'],
    checkedBy: 'test/jobs/init.test.ts',
  },
  { calls: ['serve'], checkedBy: 'test/jobs/serve-told.test.ts' },
  { calls: ['sandbox'], checkedBy: 'test/jobs/sandbox-command.test.ts' },
  { calls: ['export fetch'], checkedBy: 'test/jobs/export-fetch.servers.test.ts' },
  { calls: ['guest purge --forget-key 2026-11-20'], checkedBy: 'test/jobs/lost-keys.test.ts' },
  { calls: ['serve --port 0 --config sandbox/sandbox.yaml'], checkedBy: 'test/jobs/sandbox-command.test.ts' },
  { calls: ['sandbox --folder sandbox'], checkedBy: 'test/jobs/sandbox-command.test.ts' },
  {
    calls: [
      'sandbox --folder sandbox --fault status:503@10% --fault by-body/latency:5@3 --fault result-late:30@1',
    ],
    checkedBy: 'test/sandbox/faults.test.ts',
  },
];

/** Blocks, and lines for a shell, that are neither settings nor a call of the command. */
export const checkedByHand: readonly {
  readonly language: string;
  readonly text: RegExp;
  readonly checkedBy: string;
}[] = [
  { language: 'yaml', text: /^# prometheus\.yml/, checkedBy: 'test/docs/metrics.servers.test.ts' },
  { language: 'json', text: /"event": "day-late"/, checkedBy: 'test/docs/first-week.test.ts' },
  { language: 'js', text: /isGenuine/, checkedBy: 'test/docs/first-week.test.ts' },
  { language: 'js', text: /async function\* bookings/, checkedBy: 'test/library/bookings-module.test.ts' },
  { language: '', text: /^data\/archive\//, checkedBy: 'test/jobs/file-night.servers.test.ts' },
  { language: 'mermaid', text: /^flowchart (?:TB|LR)/, checkedBy: 'src/layers.json' },
  { language: 'nginx', text: /proxy_set_header/, checkedBy: 'test/access/own-address.test.ts' },
  { language: 'caddyfile', text: /reverse_proxy/, checkedBy: 'test/server/allowed-hosts.test.ts' },
  {
    language: 'sh',
    text: /^(?:CRON_TZ=|MAILTO=|PATH=|30 2,4,6 )/,
    checkedBy: 'test/docs/first-week.test.ts',
  },
  {
    language: 'sh',
    text: /^(?:useradd|install|systemctl|journalctl|cp ops\/systemd|rm -r \/run)/,
    checkedBy: 'test/docs/systemd.servers.test.ts',
  },
  {
    language: 'sh',
    text: /^(?:docker compose |cp \.env|sh ops\/docker|mkdir -p exports|day=)/,
    checkedBy: 'test/docs/compose.test.ts',
  },
  { language: 'sh', text: /^kubectl /, checkedBy: 'test/docs/kubernetes.test.ts' },
  {
    language: 'sh',
    text: /^(?:umask|sqlite3|pg_dump|psql|pg_restore|ssh-keyscan|curl -i) ?/,
    checkedBy: 'test/docs/other-programs.servers.test.ts',
  },
  { language: 'sh', text: /^curl --(?:fail|cookie) /, checkedBy: 'test/desk/sign-in.test.ts' },
  {
    language: 'sh',
    text: /^(?:at=|signature=|curl --include )/,
    checkedBy: 'test/server/hook-credentials.servers.test.ts',
  },
  { language: 'sh', text: /^redis-cli FLUSHALL/, checkedBy: 'test/many-machines/lost-queue.servers.test.ts' },
  { language: '', text: /bookings sent for review/, checkedBy: 'test/jobs/first-run.test.ts' },
  { language: 'sh', text: /^npm (?:ci|start) ?/, checkedBy: 'test/jobs/first-run.test.ts' },
  { language: 'sh', text: /^npm run bench/, checkedBy: 'bench/run.ts' },
];

function hasNotified(messages: number) {
  return ({ receiver }: Night) => expect(receiver.requests).toHaveLength(messages);
}

const exportOf = ({ folder }: Night, day: string): string => join(folder, `exports/bookings-${day}.csv`);

async function failOnce(night: Night): Promise<void> {
  const path = exportOf(night, '2026-11-20');
  await rename(path, `${path}.away`);
  expect(await night.run(['run', '2026-11-20'])).toMatchObject({ exitCode: 1 });
  await rename(`${path}.away`, path);
}

async function addLateBooking(night: Night): Promise<void> {
  await appendFile(
    exportOf(night, '2026-11-20'),
    '100003,BR-1044,Eva Lund,Bedlink,BL-1,2027-11-24,2027-11-26\n',
  );
}

async function collectMails({ folder, sandbox }: Night): Promise<void> {
  expect(await readdir(sandbox.outbox)).not.toEqual([]);
  await cp(sandbox.outbox, join(folder, 'mails'), { recursive: true });
}
