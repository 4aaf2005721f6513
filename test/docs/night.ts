import { randomUUID } from 'node:crypto';
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { captureIo, toStdin } from '../support/command-io.js';
import { hookSecret } from '../support/hook-secrets.js';
import { type StandIn, startStandIn } from '../support/http-stand-in.js';
import { patienceMs } from '../support/patience.js';
import type { Addresses } from '../support/sandbox-command.js';

const builtMain = new URL('../../dist/jobs/main.js', import.meta.url).href;

export interface Called {
  readonly exitCode: number;
  /** What it printed, on both streams. */
  readonly text: string;
}

/** A folder in which the pages' commands find what they name. */
export interface Night {
  readonly folder: string;
  readonly sandbox: Addresses;
  /** A channel of `notify`. */
  readonly receiver: StandIn;
  /** Writes another configuration, with other settings. */
  configure(name: string, settings: object): Promise<void>;
  /** Calls `hotel-review` in that folder. */
  run(words: readonly string[]): Promise<Called>;
  remove(): Promise<void>;
}

/**
 * Starts a sandbox and prepares two days for it, the pages' day and yesterday. On the former, BR-1042 and BR-1043 are
 * booked on a wrong mapping.
 */
export async function prepareNight(): Promise<Night> {
  const folder = await mkdtemp(join(tmpdir(), 'pages-'));
  const stopping = new AbortController();
  const run = async (words: readonly string[]): Promise<Called> => {
    const { exitCode, text } = start(folder, words);
    return { exitCode: await exitCode, text: text() };
  };

  const sandbox = start(
    folder,
    ['sandbox', '--json', '--folder', join(folder, 'sandbox'), '--result-delay', '0'],
    stopping.signal,
  );
  await vi.waitUntil(() => sandbox.text().includes('"configuration"'), { timeout: patienceMs, interval: 5 });

  const receiver = await startStandIn();
  const configure = await createConfigurations(folder, receiver);
  await configure('hotel-review.yaml', {});
  await mkdir(join(folder, 'exports'));
  for (const day of ['2026-11-20', yesterday()]) {
    const file = join('exports', `bookings-${day}.csv`);
    const made = ['--day', day, '--count', '300', '--out', file];
    await run(['sandbox', 'bookings', ...made]);
    if (day === '2026-11-20') await appendFile(join(folder, file), wrongBookings);
  }
  return {
    folder,
    sandbox: JSON.parse(sandbox.text().split('\n')[0] ?? ''),
    receiver,
    configure,
    run,
    async remove() {
      stopping.abort();
      await sandbox.exitCode;
      await receiver.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Of a hotel that no world has. */
const wrongBookings = ['BR-1042', 'BR-1043']
  .map((reference) => `100003,${reference},Ana Silva,Bedlink,BL-1,2027-11-24,2027-11-26\n`)
  .join('');

export const yesterday = (): string => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

/** Makes the service export its mappings, and puts the file with the hotels where the pages expect it. */
export async function placeHotelsFile({ folder, run }: Night): Promise<void> {
  await run(['export', 'request', '--email', 'ops@example.com']);
  const root = join(folder, 'sandbox/sftp');
  const find = async () => (await readdir(root)).find((name) => name.includes('_hotels_'));
  const name = await vi.waitUntil(find, { timeout: patienceMs, interval: 50 });
  await cp(join(root, name), join(folder, 'acme_hotels_0b2f.csv'));
}

function start(folder: string, words: readonly string[], signal = new AbortController().signal) {
  const { io, stdout, stderr } = captureIo({
    cwd: folder,
    signal,
    stdin: toStdin('four random words here\n'),
  });
  const exitCode = load().then(({ main }) => main(words, io));
  return { exitCode, text: () => `${stdout.text()}${stderr.text()}` };
}

const load = async () => (await import(builtMain)) as typeof import('../../jobs/main.js');

/** The sandbox's own settings, with what the pages assume. */
async function createConfigurations(folder: string, receiver: StandIn): Promise<Night['configure']> {
  const given = parse(await readFile(join(folder, 'sandbox/sandbox.yaml'), 'utf8'));
  const channel = { kind: 'webhook', name: 'ops', url: `http://127.0.0.1:${receiver.port}/` };
  const usual = {
    ...given,
    source: { kind: 'csv', path: 'exports/bookings-{day}.csv' },
    delivery: 'file',
    notify: [{ ...channel, secret: `whsec_${Buffer.from(randomUUID()).toString('base64')}` }],
    hook: { secret: hookSecret },
    hashKey: randomUUID(),
    server: { users: './users.json' },
    verdicts: { maildir: './mail' },
  };
  for (const name of ['new', 'cur']) await mkdir(join(folder, 'mail', name), { recursive: true });
  return (name, settings) =>
    writeFile(join(folder, name), stringify({ ...usual, ...settings }), { mode: 0o600 });
}
