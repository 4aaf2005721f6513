import { expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { prepareMachines } from './machines.js';

const redis = useRedis();
/** Fewer than six processes would open without a limit. */
const connections = 40;
const postgres = usePostgres({ connections });

interface Logged {
  readonly worker: string;
  readonly msg: string;
}

it('five workers and a serve share a day over few connections: none is refused, and everybody can see who sent what', async () => {
  const { folder, ...machines } = await prepareMachines({
    redis: redis(),
    postgres: postgres(),
    bookings: 1_200,
    settings: { body: { batchSize: 10, concurrency: 16 }, workers: { leaseSeconds: 30 } },
  });
  const serve = folder.start(['serve', '--port', '0', '--log-level', 'info']);
  await serve.wrote('"serving"');
  const workers = await Promise.all(Array.from({ length: 5 }, () => machines.startWorker()));
  const names = [serve, ...workers].map(({ stderr }) => readLog(stderr)[0]?.worker);
  const { json } = await folder.run(['status', '--workers', '--json']);
  expect((json as { workers: { id: string }[] }).workers.map(({ id }) => id).sort()).toEqual(
    [...names].sort(),
  );
  await machines.detach();
  expect((await machines.completed()).counts).toMatchObject({ delivered: 1_200, repeated: 0 });

  const shown = await folder.run(['show', 'BR-112', '--json']);
  const { bookings } = shown.json as { bookings: { attempts: { worker: string }[] }[] };
  expect(names).toContain(bookings[0]?.attempts[0]?.worker);
  const { runs } = (await folder.run(['status', day, '--json'])).json as {
    runs: { workers: { worker: string; attempts: number }[] }[];
  };
  const performed = runs[0]?.workers ?? [];
  expect(performed.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(120);
  for (const { worker } of performed) expect(names).toContain(worker);

  for (const one of [serve, ...workers]) {
    one.kill('SIGTERM');
    expect((await one.ended).exitCode).toBe(0);
    expect(readLog(one.stderr).filter(({ msg }) => /no connection|does not respond/.test(msg))).toEqual([]);
  }
  expect(await folder.run(['status', '--workers', '--json'])).toMatchObject({ json: { workers: [] } });
});

function readLog(text: string): Logged[] {
  return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Logged] : []));
}
