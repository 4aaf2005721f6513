import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { dayOfRunId } from '../../src/review/day/open-run.js';
import type { Role } from '../../src/storage/access/roles.js';
import type { BuiltCommands } from '../support/built-commands.js';
import { openDesk } from '../support/desk-month/desk.js';
import { type DeskMonth, makeDeskMonth } from '../support/desk-month/month.js';
import { findSamples } from '../support/desk-month/samples.js';
import { hookSecret } from '../support/hook-secrets.js';
import { listFiles } from '../support/leaks.js';
import { type Asked, listChanging, listHelp, listLost, listReading } from './command-lines.js';
import { describeEmail, readFace } from './files.js';
import { createNormaliser } from './normalise.js';
import { type Outside, startOutside } from './outside.js';
import { joinRoles, layOut, listPages, signInAll, type Visit } from './pages.js';
import { listTexts } from './texts.js';
import { listTyped } from './typed-lines.js';

/**
 * Records all that people and programs see of a fixed month in the sandbox: what commands print, what the desk shows to each
 * role, what is written, and what the service and the channels are sent. `npm run faces` writes it to test/faces/recorded; a
 * folder may be given instead, and then the URL of a PostgreSQL database for the ledger.
 */
const [folder = fileURLToPath(new URL('recorded', import.meta.url)), ledger] = process.argv.slice(2);
/** A Monday. The month's days begin half a minute past: no age is exactly at the next minute. */
const now = '2026-11-23T08:05:45Z';

stretchLimits();

// How long paths are decides where lines break.
process.env.TMPDIR = '/tmp';

const outside = await startOutside();
const month = await makeDeskMonth({
  ...{ today: now.slice(0, 10), bookingsADay: 12, wrongADay: 2, speed: 1 },
  settings({ service }) {
    outside.forwardTo(service.baseUrl);
    return {
      baseUrl: service.baseUrl.replace(new URL(service.baseUrl).origin, outside.serviceUrl),
      body: { batchSize: 5, concurrency: 1 },
      // How long a wait is depends on chance.
      retry: { tries: 1 },
      notify: outside.notify,
      heartbeat: outside.heartbeat,
      hashKey: 'a key of recorded faces',
      hook: { secret: hookSecret },
      ...(ledger !== undefined && { ledger }),
    };
  },
});
try {
  const faces = await recordFaces(month, outside);
  await rm(folder, { recursive: true, force: true });
  for (const [name, text] of faces) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  console.log(`${faces.size} faces recorded in ${folder}`);
} finally {
  await month.close();
  await outside.close();
}

/**
 * On a busy machine, what takes a blink elsewhere runs into time limits: a run that ended before its last messages were sent left them
 * to the next one. The scenario itself waits only for moments.
 */
function stretchLimits(): void {
  const { setTimeout: start } = globalThis;
  const shortestLimitMs = 1_000;
  const stretch = <Given extends unknown[]>(work: (...given: Given) => void, ms = 0, ...given: Given) =>
    ms < shortestLimitMs ? start(work, ms, ...given) : start(work, ms * 100, ...given).unref();
  globalThis.setTimeout = Object.assign(stretch, start);
}

async function recordFaces(
  { commands, clock, ...month }: DeskMonth,
  { listMessages, listRequests, serviceUrl }: Outside,
): Promise<ReadonlyMap<string, string>> {
  const faces = new Map<string, string>();
  const normalise = createNormaliser(
    new Map([
      [month.folder, 'FOLDER'],
      [serviceUrl, 'http://SERVICE'],
    ]),
  );
  const record = (name: string, text: string) =>
    faces.set(name, `${faces.get(name) ?? ''}${normalise(text).trimEnd()}\n\n`);
  const samples = await findSamples({ commands, clock, ...month });
  const isShown = (path: string) => path.includes(samples.fileRun) && !path.endsWith('.html');
  const fileDay = dayOfRunId(samples.fileRun);

  async function recordCommands(asked: readonly Asked[]): Promise<void> {
    for (const { name, lines } of asked)
      for (const line of lines) {
        clock.set(now);
        record(`commands/${name}.txt`, await call(commands, line, month.folder));
      }
  }

  await recordCommands(await listHelp(commands));
  const [email = ''] = listFiles(join(month.folder, 'outbox', 'new')).sort();
  await recordCommands(listReading({ ...samples, fileDay, email }));
  const desk = await openDesk({ commands });
  const visits = await signInAll(desk.url);
  await untilMailboxWasRead(visits, () => clock.set(now));
  for (const [name, path] of Object.entries(listPages(samples, fileDay)))
    for (const [accept, ending] of [
      ['text/html', 'html'],
      ['application/json', 'json'],
    ] as const) {
      const texts = new Map<Role, string>();
      for (const [role, visit] of visits) {
        clock.set(now);
        texts.set(role, normalise(await visit(path, accept)));
      }
      record(`pages/${name}.${ending}`, joinRoles(texts));
    }
  await desk.close();
  await recordCommands(listChanging(samples));

  for (const name of ['failed-day.html', 'evidence.zip', 'affected.csv', 'made.csv', 'new.yaml'])
    record(`files/${name}.txt`, await readFace(join(month.folder, name)));
  const archive = join(month.folder, 'data/archive');
  const archived = listFiles(archive).sort();
  // Runs are numbered as they appear, which must not depend on their ids.
  for (const day of new Set(archived.flatMap((path) => /\d{4}-\d\d-\d\d/.exec(path)?.[0] ?? [])))
    normalise(JSON.stringify(await commands.ask(['status', day])));
  const entries = archived.map((path) => ({ path, name: normalise(relative(archive, path)) }));
  for (const { path, name } of entries.sort((one, other) => (one.name < other.name ? -1 : 1)))
    record('files/archive.txt', `=== ${name}\n${isShown(path) ? await readFace(path) : ''}`);
  for (const [channel, sent] of listMessages()) {
    const read = channel === 'email' ? describeEmail : layOut;
    // Several are sent at the same time.
    const texts = (await Promise.all(sent.map(async (message) => read(message)))).map(normalise).sort();
    for (const text of texts) record(`messages/${channel}.txt`, text);
  }
  for (const request of listRequests().map(normalise).sort()) record('requests.txt', request);
  await recordCommands(listLost(fileDay, await loseLedger(month.folder, fileDay)));
  for (const [name, text] of listTexts()) record(`texts/${name}.txt`, text);
  record('texts/typed-lines.txt', await listTyped());
  return faces;
}

/** `serve` reads the e-mails once it has started, while the first pages are visited. */
async function untilMailboxWasRead(visits: ReadonlyMap<Role, Visit>, beginMoment: () => void): Promise<void> {
  const visit = visits.get('viewer');
  for (let tries = 0; tries < 3_000; tries += 1) {
    beginMoment();
    if ((await visit?.('/', 'application/json'))?.includes('"isRead": true')) return;
    await delay(20);
  }
  throw new Error('serve did not read the mailbox');
}

/** A configuration like that of the sandbox, but for its ledger, and for an export in which every third booking is cancelled. */
async function loseLedger(folder: string, day: string): Promise<string> {
  const own = parse(await readFile(join(folder, 'sandbox.yaml'), 'utf8'));
  const lines = (await readFile(join(folder, `bookings-${day}.csv`), 'utf8')).trimEnd().split('\n');
  const states = lines.map(
    (line, index) => `${line},${index === 0 ? 'State' : index % 3 ? 'CONF' : 'CANC'}\n`,
  );
  await writeFile(join(folder, `states-${day}.csv`), states.join(''));
  // Nobody knows whose this is.
  const unmarked = join(folder, 'data/archive', day, 'unmarked');
  await mkdir(unmarked);
  await writeFile(join(unmarked, 'bookings.csv'), states.join(''));
  const path = join(folder, 'lost-ledger.yaml');
  const changed = { ledger: 'sqlite:./data/new.db', guestNameDays: 7, notify: [] };
  await writeFile(
    path,
    stringify({ ...own, ...changed, source: { ...own.source, path: 'states-{day}.csv' } }),
  );
  return path;
}

async function call(commands: BuiltCommands, words: readonly string[], cwd: string): Promise<string> {
  const { exitCode, stdout, stderr } = await commands.call(words, { cwd });
  const output = words.includes('--json') ? layOut(stdout) : stdout;
  // Of a range, one day is collected while another one is sent.
  const progress = words.includes('--to') ? stderr.split('\n').sort().join('\n').trimStart() : stderr;
  const error = stderr === '' ? '' : `--- standard error\n${progress.trimEnd()}\n`;
  return `$ hotel-review ${words.join(' ')}\n${output.trimEnd()}\n${error}--- exit code ${exitCode}`;
}
