import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { makeBookings } from '../../src/sandbox/bookings/made-bookings.js';
import type { MadeRecord } from '../../src/sandbox/bookings/made-record.js';
import { csvFormat } from '../../src/sandbox/bookings/record-formats.js';
import { renderSandboxConfiguration } from '../../src/sandbox/configuration.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { createWorld, type World } from '../../src/sandbox/world/world.js';
import type { CommandResult } from '../support/command.js';
import { createDayFolder, type DayFolder, type Settings } from '../support/day-folder.js';
import { engine } from '../support/engine.js';
import { useFastClock } from '../support/fast-clock.js';
import { fakeTimeNeeds, startingAt } from '../support/machine.js';
import { patienceMs } from '../support/patience.js';
import { seededRandom } from '../support/seed.js';
import { createGuestModel, groupOf, hotelOf, type ModelBooking } from './guest-model.js';

beforeEach(({ skip }) => skip(fakeTimeNeeds !== undefined, fakeTimeNeeds));

/** In Madrid, the clocks change on the 28th. */
const firstDay = Date.UTC(2027, 2, 1);
const nights = Number(process.env.MONTH_NIGHTS ?? 31);
const nightHour = 3;
const dayMs = 86_400_000;
const hourMs = 3_600_000;
const bookingsADay = 150;
const changesADay = 12;
const killShare = 0.7;
const minuteMs = 60_000;

interface Case {
  readonly id: number;
  readonly providerName: string;
  readonly providerHotelId: string;
  readonly serviceId: number;
  readonly state: string;
  readonly openBookings: number;
}

interface CaseDetails {
  readonly bookingList: readonly {
    readonly reference: string | null;
    readonly checkIn: string | null;
    readonly checkOut: string | null;
    readonly state: string;
  }[];
}

it('a month: on each morning every guest at risk is in an open case, none twice, and nobody else', {
  timeout: 3_000_000,
}, async () => {
  const random = seededRandom();
  const clock = useFastClock();
  clock.set(new Date(firstDay).toISOString());
  const { world, folder, outbox } = await openSandbox();
  const model = createGuestModel();
  const made: MadeRecord[] = [];
  const told = { kills: 0, open: 0, corrected: 0, emails: 0 };
  let moment = firstDay;
  // A process may start with its clock behind this one's, and a finding must not seem older than a sync before it.
  const nextMinute = () => {
    moment += minuteMs;
    const instant = new Date(moment).toISOString();
    clock.set(instant);
    return instant;
  };
  const perform = createPerformer(folder, { nextMinute, random, told });

  for (let night = 0; night < nights; night += 1) {
    const dayEnd = firstDay + (night + 1) * dayMs;
    const [day, today] = [isoDay(dayEnd - 1), isoDay(dayEnd)];
    const isByFile = night % 3 !== 1;
    // The agency books by the mappings of the night before.
    const records = [
      ...makeBookings({
        ...{ day, count: bookingsADay, seed: 1, wrongShare: 0.01, world },
        newVersions: { share: 0.06, earlier: made.slice(-1_000) },
      }),
    ];
    made.push(...records);
    await folder.writeBookings(csvFormat.header + records.map(csvFormat.write).join(''), day);

    for (let made = 0; made < changesADay; made += 1) world.change(dayEnd + made * minuteMs);
    moment = dayEnd + nightHour * hourMs;
    await perform('mappings', 'sync');
    model.synced(readStated(world), world.history, today);
    await perform('run', '--day', day, '--delivery', isByFile ? 'file' : 'body');
    const bookings = records.filter(({ kind }) => kind === 'booking');
    model.collected(
      bookings.flatMap((record) => toModel(record, day)),
      today,
    );
    const wrong = bookings.filter((record) => isWrong(record, world));
    const inResult = wrong.filter((record) => isByFile && fitsFile(record));
    model.named(
      inResult.flatMap((record) => toModel(record, day)),
      today,
    );
    const inEmails = wrong.filter(({ bookingReferenceId }) => clean(bookingReferenceId) !== undefined);
    for (const email of await outbox.readNew(
      inEmails.map((record) => clean(record.bookingReferenceId) ?? ''),
    )) {
      await perform('verdicts', 'import', email);
      told.emails += 1;
    }
    model.named(
      inEmails.flatMap((record) => toModel(record, day)),
      today,
    );
    await folder.processes.dismiss();

    const cases = await untilAsExpected(folder, model.expectedOpen(today), today);
    told.open += cases.length;
    told.corrected += cases.filter(({ state }) => state === 'corrected').length;
    for (const { id, state, ...pair } of cases) {
      const group = model.groups.get(groupOf(pair));
      expect({ today, id, state, ...pair }).toMatchObject({
        state: group?.isActive ? 'open' : 'corrected',
      });
    }
    const [helped] = cases.filter(() => random() < 0.2);
    const [reference] = (helped && model.expectedOpen(today).get(groupOf(helped))) ?? [];
    if (helped && reference !== undefined && !reference.startsWith('?')) {
      await perform('case', String(helped.id), 'resolve', reference, '--as', 'rebooked', '--note', 'called');
      model.resolved(groupOf(helped), reference);
    }
  }
  console.log(
    JSON.stringify({ engine: engine.name, ...told, groups: model.groups.size, merges: model.merges }),
  );
  expect(told.kills).toBeGreaterThan(nights / 4);
  expect(told.corrected).toBeGreaterThan(0);
  expect(told.emails).toBeGreaterThan(nights / 2);
});

async function openSandbox() {
  const world = createWorld({ seed: 7, hotels: 150 });
  const sandboxFolder = await mkdtemp(join(tmpdir(), 'month-sandbox-'));
  const sandbox = await startSandbox({
    folder: sandboxFolder,
    world,
    resultDelayMs: 0,
    emailForm: 'table',
    clock: Date.now,
  });
  onTestFinished(async () => {
    await sandbox.close();
    await rm(sandboxFolder, { recursive: true });
  });
  const { service, file } = parseYaml(renderSandboxConfiguration(sandbox)) as Record<
    'service' | 'file',
    Settings
  >;
  const folder = await createDayFolder({
    baseUrl: sandbox.service.baseUrl,
    settings: {
      service,
      file: { ...file, resultPollSeconds: 0.05, resultQuietSeconds: 0.5 },
    },
  });
  return { world, folder, outbox: watchOutbox(sandbox.outbox) };
}

/** Finds the e-mails that were written since the last look; waits until they name all of these bookings. */
function watchOutbox(path: string) {
  const known = new Set<string>();
  return {
    async readNew(references: readonly string[]): Promise<readonly string[]> {
      let found: readonly string[] = [];
      await vi.waitUntil(
        async () => {
          found = (await readdir(path)).filter((name) => name.endsWith('.eml') && !known.has(name)).sort();
          const texts = await Promise.all(found.map((name) => readFile(join(path, name), 'latin1')));
          // Without the line breaks of quoted-printable.
          const written = texts.join('\n').replaceAll('=\r\n', '');
          return references.every((reference) => written.includes(reference));
        },
        { timeout: patienceMs, interval: 50 },
      );
      for (const name of found) known.add(name);
      return found.map((name) => join(path, name));
    },
  };
}

/**
 * Performs commands until they have ended by themselves with success; a process of one is killed now and then. Each try starts
 * a minute after the one before.
 */
function createPerformer(
  folder: DayFolder,
  {
    nextMinute,
    random,
    told,
  }: {
    readonly nextMinute: () => string;
    readonly random: () => number;
    readonly told: { kills: number };
  },
) {
  /** How long the last process took that nobody killed; the next one is killed within that time. */
  let usualMs = 1_000;

  return async (...args: readonly string[]): Promise<CommandResult> => {
    const isRun = args[0] === 'run';
    if (random() < killShare / 4) {
      const startedAt = performance.now();
      const command = folder.start([...args, '--json'], { env: startingAt(nextMinute()) });
      await Promise.race([delay(Math.floor(random() * usualMs)), command.ended]);
      const victim = isRun ? folder.processes.pick(random) : command;
      if (command.hasEnded) usualMs = performance.now() - startedAt;
      else {
        victim.kill('SIGKILL');
        await victim.ended;
        told.kills += 1;
      }
      const result = victim === command ? undefined : await command.ended;
      if (result?.exitCode === 0) return result;
    }
    const env = startingAt(nextMinute());
    const isProcess = isRun && engine.workers > 0;
    const result = await folder.run([...args, '--json'], isProcess ? { env, asProcess: true } : {});
    if (result.exitCode !== 0)
      throw new Error(`${args.join(' ')}: ${result.exitCode}\n${result.stdout}${result.stderr}`);
    return result;
  };
}

async function untilAsExpected(
  folder: DayFolder,
  expected: ReadonlyMap<string, readonly string[]>,
  what: string,
): Promise<readonly Case[]> {
  let cases: readonly Case[] = [];
  let open = new Map<string, readonly string[]>();
  const read = async () => {
    cases = await readCases(folder);
    open = await readOpen(folder, cases);
  };
  await read();
  const isSame = () => JSON.stringify([...open].sort()) === JSON.stringify([...expected].sort());
  // A worker may still be at it.
  if (engine.workers > 0 && !isSame())
    await vi
      .waitUntil(
        async () => {
          await read();
          return isSame();
        },
        { timeout: patienceMs, interval: 500 },
      )
      .catch(() => {});
  expect(Object.fromEntries([...open].sort()), what).toEqual(Object.fromEntries([...expected].sort()));
  return cases;
}

async function readCases(folder: DayFolder): Promise<readonly Case[]> {
  const { json, exitCode, stderr } = await folder.run(['cases', '--json']);
  if (exitCode !== 0) throw new Error(stderr);
  return (json as { readonly cases: readonly Case[] }).cases;
}

async function readOpen(folder: DayFolder, cases: readonly Case[]): Promise<Map<string, readonly string[]>> {
  const open = new Map<string, readonly string[]>();
  const left = [...cases];
  const work = async () => {
    for (let item = left.pop(); item; item = left.pop()) {
      const { json } = await folder.run(['case', String(item.id), '--json']);
      const names = (json as CaseDetails).bookingList
        .filter(({ state }) => state === 'open')
        .map(({ reference, checkIn, checkOut }) => reference ?? `? ${checkIn ?? '-'} ${checkOut ?? '-'}`);
      // Two cases of the same mapping would be one too many.
      expect(open).not.toContain(groupOf(item));
      if (names.length > 0) open.set(groupOf(item), names.sort());
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return open;
}

function readStated(world: World): Map<string, number> {
  return new Map(world.mappings.map((mapping) => [hotelOf(mapping), mapping.serviceId]));
}

const clean = (cell: string | null | undefined) => {
  const text = cell?.trim();
  return text === undefined || text === '' || text.toLowerCase() === 'null' ? undefined : text;
};

function isWrong(record: MadeRecord, world: World): boolean {
  const [provider, hotel] = [clean(record.providerName), clean(record.providerHotelId)];
  if (provider === undefined || hotel === undefined) return false;
  return world.serviceIdOf(provider, hotel) !== Number(record.serviceId);
}

/** Bookings that lack a field, or whose guest's name reads as null, are posted. */
function fitsFile({ missing, bookingClientName }: MadeRecord): boolean {
  return missing === undefined && !/^(?:null|none)$/i.test(bookingClientName?.trim() ?? '');
}

/** None for a booking that doesn't name its provider's hotel. */
function toModel(record: MadeRecord, day: string): ModelBooking[] {
  const [providerName, providerHotelId] = [clean(record.providerName), clean(record.providerHotelId)];
  if (providerName === undefined || providerHotelId === undefined) return [];
  const reference = clean(record.bookingReferenceId);
  return [
    {
      ...{ providerName, providerHotelId, day, reference },
      serviceId: Number(record.serviceId),
      checkIn: clean(record.checkInDate),
      checkOut: clean(record.checkOutDate),
    },
  ];
}

function isoDay(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}
