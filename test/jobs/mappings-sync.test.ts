import { appendFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../many-machines/serving.js';
import { createDayFolder, type DayFolder } from '../support/day-folder.js';
import { type StandIn, type StandInAnswer, startStandIn } from '../support/http-stand-in.js';
import {
  type CallFate,
  createMappingTruth,
  type MappingTruth,
  makeMappings,
  readCopy,
  type TrueMapping,
} from '../support/mapping-truth.js';
import { isNightly } from '../support/nightly.js';
import { patienceMs } from '../support/patience.js';

interface Scene {
  readonly truth: MappingTruth;
  readonly service: StandIn;
  readonly folder: DayFolder;
}

interface SceneOptions {
  readonly mappings?: readonly TrueMapping[];
  readonly pageSize?: number;
  readonly fateOf?: (number: number) => CallFate;
  readonly before?: (number: number) => Promise<StandInAnswer | undefined>;
}

async function prepare(options: SceneOptions = {}): Promise<Scene> {
  const { mappings = makeMappings(95), pageSize = 10, fateOf = () => 'answered', before } = options;
  const truth = createMappingTruth(mappings, pageSize);
  const service = await startStandIn(
    async (request, number) => (await before?.(number)) ?? truth.answer(request, fateOf(number)),
  );
  onTestFinished(() => service.close());
  const folder = await createDayFolder({
    baseUrl: service.baseUrl,
    hasWorkers: false,
  });
  return { truth, service, folder };
}

const sync = (folder: DayFolder, ...args: readonly string[]) =>
  folder.run(['mappings', 'sync', '--json', ...args]);
const keysOf = ({ calls }: MappingTruth) => calls.map(({ resumeKey }) => resumeKey);
const [first] = makeMappings(1) as [TrueMapping];

/** Where a sync of ten pages is killed: outside the nightly suite, at the first, one in the middle and the last. */
const killedPages = isNightly ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : [1, 5, 10];

describe('mappings sync', () => {
  it('makes a copy equal to the truth row by row, whatever faults occur on the way', async () => {
    const fates: Readonly<Record<number, CallFate>> = { 5: 'unavailable', 12: 'dropped', 18: 'expired' };
    const { truth, folder } = await prepare({
      mappings: makeMappings(2_500),
      pageSize: 100,
      fateOf: (number) => fates[number] ?? 'answered',
    });
    const { exitCode, json, stderr } = await sync(folder);
    expect(exitCode, stderr).toBe(0);
    expect(await readCopy(folder.ledgerFile)).toEqual(truth.standing());
    expect(json).toMatchObject({ restarts: 1, added: 2_500, since: '1970-01-01T00:00:00.000Z' });
    expect(truth.mostInHand).toBe(1);
    expect(new Set(truth.calls.map(({ syncId }) => syncId)).size).toBe(1);
    // The first call for a page fetched twice had no answer. After the expired key all pages were fetched again, each of one
    // mapping less, in case that the refused key was the last one.
    const beforeExpiry = keysOf(truth).slice(0, 17);
    expect(beforeExpiry.length - new Set(beforeExpiry).size).toBe(2);
    const afterExpiry = keysOf(truth).slice(18);
    expect(afterExpiry).toHaveLength(26);
    expect(new Set(afterExpiry).size).toBe(26);
  });

  it('asks for everything since 1970 first, then for changes since the last sync started', async () => {
    const { truth, folder } = await prepare();
    const startedAt = Date.now();
    await sync(folder);
    const change = { ...first, serviceId: 777, changedAt: Date.now() };
    truth.change(change);
    const { json } = await sync(folder);
    expect(json).toMatchObject({ read: 1, moved: 1, added: 0, newHotels: 1 });
    expect(await readCopy(folder.ledgerFile)).toEqual(truth.standing());
    const last = truth.calls.at(-1);
    const since = Date.parse(last?.since ?? '');
    expect(since).toBeGreaterThanOrEqual(startedAt - 603_000);
    expect(since).toBeLessThanOrEqual(Date.now() - 599_000);
    expect(last?.syncId).not.toBe(truth.calls[0]?.syncId);
  });

  it("takes its next lower bound from the service's clock, not its own", async () => {
    const hoursBehind = 5;
    const there = () => new Date(Date.now() - hoursBehind * 3_600_000).toUTCString();
    const truth = createMappingTruth(makeMappings(3));
    const service = await startStandIn(async (request) => {
      const answer = await truth.answer(request);
      return answer.kind === 'json' ? { ...answer, headers: { date: there() } } : answer;
    });
    onTestFinished(() => service.close());
    const folder = await createDayFolder({ baseUrl: service.baseUrl, hasWorkers: false });
    await sync(folder);
    await sync(folder);
    const since = Date.parse(truth.calls[1]?.since ?? '');
    expect(Date.now() - since).toBeGreaterThan(hoursBehind * 3_600_000);
    expect(Date.now() - since).toBeLessThan((hoursBehind + 1) * 3_600_000);
  });

  it.each(['before its answer', 'after its answer'])(
    'resumes to the same copy when it is killed at any page, %s',
    { timeout: 240_000 },
    async (when) => {
      for (const page of killedPages) {
        let arrived = false;
        let go = () => {};
        const released = new Promise<void>((resolve) => {
          go = resolve;
        });
        const { truth, folder } = await prepare({
          // The next call comes when the page before it is stored or being stored.
          before: async (number) => {
            if (number === (when === 'before its answer' ? page : page + 1) && !arrived) {
              arrived = true;
              await released;
            }
            return undefined;
          },
        });
        const command = folder.start(['mappings', 'sync']);
        await vi.waitUntil(() => arrived || command.hasEnded, { timeout: patienceMs, interval: 5 });
        command.kill('SIGKILL');
        await command.ended;
        go();
        const { exitCode, stderr, json } = await sync(folder);
        expect(exitCode, stderr).toBe(0);
        expect(await readCopy(folder.ledgerFile), `killed at page ${page}`).toEqual(truth.standing());
        const isOver = page === 10 && when === 'after its answer';
        expect(json, `killed at page ${page}`).toMatchObject(
          isOver ? { read: 0 } : { read: 95, added: 95, pages: 10, restarts: 0 },
        );
        // Stored pages are not fetched again: there are ten pages plus the interrupted call or the one after it.
        expect(truth.calls.length).toBeLessThanOrEqual(11);
      }
    },
  );

  it('stops cleanly when asked to, and resumes where it stopped', async () => {
    let go = () => {};
    const released = new Promise<void>((resolve) => {
      go = resolve;
    });
    let isHeld = true;
    const { truth, folder } = await prepare({
      before: async (number) => {
        if (number === 4 && isHeld) await released;
        return undefined;
      },
    });
    const command = folder.call(['mappings', 'sync', '--json']);
    await vi.waitUntil(() => truth.calls.length === 3, { timeout: patienceMs, interval: 5 });
    command.stop('SIGTERM');
    const { exitCode, json } = await command.ended;
    isHeld = false;
    go();
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({ error: { class: 'stopped' } });
    expect((await sync(folder)).json).toMatchObject({ pages: 10, read: 95 });
    expect(await readCopy(folder.ledgerFile)).toEqual(truth.standing());
  });

  it('lets one process sync at a time', async () => {
    let go = () => {};
    const released = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { truth, folder } = await prepare({
      before: async (number) => {
        if (number === 2) await released;
        return undefined;
      },
    });
    const command = folder.call(['mappings', 'sync']);
    await vi.waitUntil(() => truth.calls.length === 1, { timeout: patienceMs, interval: 5 });
    const { exitCode, json } = await sync(folder);
    expect(exitCode).toBe(4);
    expect(json).toMatchObject({ error: { class: 'busy' } });
    go();
    expect((await command.ended).exitCode).toBe(0);
    expect(truth.mostInHand).toBe(1);
  });

  it('keeps a moved provider hotel as one row with its history', async () => {
    const { truth, folder } = await prepare();
    await sync(folder);
    truth.change({ ...first, serviceId: 777, changedAt: Date.now() });
    await sync(folder);
    truth.change({ ...first, serviceId: 777, changedAt: Date.now(), isDeleted: true });
    expect((await sync(folder)).json).toMatchObject({ deleted: 1 });
    const { json, exitCode } = await folder.run(['mappings', 'show', first.provider, first.hotel, '--json']);
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({
      serviceId: null,
      history: [
        { from: first.serviceId, to: 777 },
        { from: 777, to: null },
      ],
    });
    expect(await readCopy(folder.ledgerFile)).toEqual(truth.standing());
  });

  it('removes a mapping that moved and was deleted between two syncs', async () => {
    const { truth, folder } = await prepare();
    await sync(folder);
    truth.change({ ...first, serviceId: 888, changedAt: Date.now(), isDeleted: true });
    expect((await sync(folder)).json).toMatchObject({ deleted: 1 });
    expect(await readCopy(folder.ledgerFile)).toEqual(truth.standing());
  });

  it('lists each new master hotel once, including those of a killed sync', async () => {
    const { truth, folder, service } = await prepare();
    const file = join(folder.path, 'new.ndjson');
    const command = folder.start(['mappings', 'sync', '--new-hotels', file]);
    await vi.waitUntil(() => service.requests.length >= 5 || command.hasEnded, {
      timeout: patienceMs,
      interval: 1,
    });
    command.kill('SIGKILL');
    await command.ended;
    expect((await sync(folder, '--new-hotels', file)).exitCode).toBe(0);
    const masters = async () =>
      (await readFile(file, 'utf8'))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line).ServiceId as number);
    expect(await masters()).toEqual([...new Set(makeMappings(95).map(({ serviceId }) => serviceId))]);
    truth.change({ ...first, serviceId: 777, changedAt: Date.now() });
    await sync(folder, '--new-hotels', file);
    expect(await masters()).toEqual([777]);
  });

  it('lists no master hotel that is already held, now or later', async () => {
    const { truth, folder } = await prepare();
    const masters = [...new Set(makeMappings(95).map(({ serviceId }) => serviceId))];
    const file = join(folder.path, 'new.ndjson');
    const held = join(folder.path, 'held.txt');
    await writeFile(held, masters.slice(1).join('\n'));
    const { exitCode, stderr } = await sync(folder, '--new-hotels', file, '--held', held);
    expect(exitCode, stderr).toBe(0);
    const listed = async () =>
      (await readFile(file, 'utf8')).split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    expect(await listed()).toMatchObject([{ ServiceId: masters[0] }]);
    truth.change({ ...first, serviceId: 777, changedAt: Date.now() });
    await sync(folder, '--new-hotels', file);
    expect(await listed()).toMatchObject([{ ServiceId: 777 }]);
  });

  it('appends new master hotels to mappings.newHotels, each once, whoever syncs', async () => {
    const { truth, folder } = await prepare();
    await folder.configure({ mappings: { newHotels: 'out/new.ndjson', cron: '* * * * *' } });
    const file = join(folder.path, 'out', 'new.ndjson');
    const masters = [...new Set(makeMappings(95).map(({ serviceId }) => serviceId))];
    const lines = async () => (await readFile(file, 'utf8')).split('\n');
    const listed = async () =>
      (await lines()).flatMap((line) => (line === '' ? [] : [JSON.parse(line).ServiceId]));

    await mkdir(file, { recursive: true });
    const refused = await sync(folder);
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.stderr).toMatch(/mappings\.newHotels: .*new\.ndjson can't be written \(EISDIR\)/);
    await rm(file, { recursive: true });

    const named = await sync(folder, '--new-hotels', 'once.ndjson');
    expect(named.exitCode, named.stderr).toBe(0);
    expect(await listed()).toEqual(masters);
    expect(await readFile(join(folder.path, 'once.ndjson'), 'utf8')).toBe(await readFile(file, 'utf8'));
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    truth.change({ ...first, serviceId: 777, changedAt: Date.now() });
    const serving = await serve(folder);
    await vi.waitUntil(async () => (await listed()).includes(777), { timeout: patienceMs, interval: 50 });
    serving.command.kill('SIGTERM');
    await serving.command.ended;
    expect(await listed()).toEqual([...masters, 777]);

    // A machine that lost its power left half a line.
    await appendFile(file, '{"Servi');
    truth.change({ ...first, serviceId: 888, changedAt: Date.now() });
    await sync(folder);
    const end = (await lines()).slice(-3);
    expect(end).toEqual(['{"Servi', expect.stringContaining('"ServiceId":888'), '']);
  });

  it('asks nothing of the service when the file of held hotels is unusable', async () => {
    const { truth, folder } = await prepare();
    const { exitCode } = await sync(folder, '--held', 'nowhere.txt');
    expect(exitCode).toBe(2);
    expect(truth.calls).toEqual([]);
  });

  it('syncs one provider on request and keeps its state separate', async () => {
    const { truth, folder } = await prepare();
    await sync(folder, '--provider-family', 'Bedlink');
    expect(await readCopy(folder.ledgerFile)).toEqual(
      truth.standing().filter((line) => line.includes('"Bedlink"')),
    );
    const { json } = await sync(folder);
    expect(json).toMatchObject({ since: '1970-01-01T00:00:00.000Z', read: 95 });
    expect(await readCopy(folder.ledgerFile)).toEqual(truth.standing());
  });

  it('leaves no gap after a sync that was given a later start', async () => {
    const { truth, folder } = await prepare();
    await sync(folder, '--since', '1970-01-01');
    const before = Date.now();
    truth.change({ ...first, location: 'elsewhere', changedAt: before });
    const later = new Date(before + 3_600_000).toISOString();
    expect((await sync(folder, '--since', later)).json).toMatchObject({ since: later, read: 0 });
    expect((await sync(folder)).json).toMatchObject({ updated: 1 });
    expect(await readCopy(folder.ledgerFile)).toEqual(truth.standing());
  });

  it('gives up with a clear error when the service never recognises its own keys', async () => {
    const { truth, folder } = await prepare({
      // A page that is not full could be the last one.
      ...{ mappings: makeMappings(2_500), pageSize: 1_000 },
      fateOf: (number) => (number % 2 === 0 ? 'expired' : 'answered'),
    });
    const { exitCode, json, stderr } = await sync(folder);
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({ error: { class: 'refused', message: expect.stringContaining('2027') } });
    expect(truth.calls).toHaveLength(12);
    expect(stderr).not.toContain('key-of-the-test');
  });
});
