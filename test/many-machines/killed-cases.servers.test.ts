import { expect, it, onTestFinished, vi } from 'vitest';
import { hookSecret } from '../support/hook-secrets.js';
import { openPostgresTables } from '../support/ledger-watch.js';
import { toCsv } from '../support/made-bookings.js';
import { fillCopyOf, mappingOf } from '../support/mapping-truth.js';
import { patienceMs } from '../support/patience.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { prepareMachines, until } from './machines.js';
import { serve, timezone, yesterday } from './serving.js';

const redis = useRedis();
const postgres = usePostgres();
const otherMaster = 5;

it.each([
  ['before the first case of a run', (cases: number) => cases === 0],
  ['in the middle of its cases', (cases: number) => cases > 0],
])(
  '`serve` and a worker that are killed %s leave the others to the next `serve`, which opens each once',
  async (_, isDue) => {
    const { bookings, folder, database, startWorker } = await prepareMachines({
      ...{ redis: redis(), postgres: postgres(), bookings: 2_000 },
      settings: { timezone, hook: { secret: hookSecret }, body: { batchSize: 500 } },
    });
    const stays = bookings.map((booking) => ({
      ...booking,
      CheckInDate: '2031-01-02',
      CheckOutDate: '2031-01-09',
    }));
    await folder.writeBookings(toCsv(stays), yesterday.iso);
    // The copy has another master hotel for each, so that each is a suspect with a case.
    const rows = stays.map((booking) => ({ ...mappingOf(booking), serviceId: otherMaster }));
    await fillCopyOf(folder, { rows, at: Date.UTC(2026, 10, 1) });
    const worker = await startWorker();
    const serving = await serve(folder);

    const tables = openPostgresTables(database.url);
    onTestFinished(() => tables.close());
    expect((await serving.ask(yesterday.iso)).status).toBe(202);
    let opened = Number.NaN;
    await vi.waitUntil(
      async () => {
        // Nobody opens another case meanwhile.
        await tables.rows('BEGIN; LOCK TABLE cases IN EXCLUSIVE MODE');
        const [found] = await tables.rows(
          "SELECT (SELECT count(*) FROM runs WHERE state = 'succeeded') AS runs, (SELECT count(*) FROM cases) AS cases",
        );
        opened = Number(found?.cases);
        if (Number(found?.runs) === 1 && isDue(opened)) return true;
        await tables.release();
        return false;
      },
      { timeout: patienceMs, interval: 1 },
    );
    for (const command of [serving.command, worker]) {
      command.kill('SIGKILL');
      expect((await command.ended).signal).toBe('SIGKILL');
    }
    await tables.release();
    expect(opened).toBeLessThan(stays.length);

    const again = await serve(folder);
    const countCases = async () =>
      Number((await tables.rows('SELECT count(*) AS cases FROM cases'))[0]?.cases);
    await until(async () => (await countCases()) >= stays.length);
    const { json } = await folder.run(['cases', '--json']);
    const { cases } = json as { cases: readonly { providerHotelId: string; bookings: number }[] };
    expect(cases).toHaveLength(stays.length);
    expect(new Set(cases.map(({ providerHotelId }) => providerHotelId)).size).toBe(stays.length);
    expect(cases.every((item) => item.bookings === 1)).toBe(true);
    again.command.kill('SIGTERM');
    expect((await again.command.ended).exitCode).toBe(0);
  },
);
