import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { startStandIn } from '../support/http-stand-in.js';
import { seededRandom } from '../support/seed.js';

const rounds = 200;
const secret = `whsec_${Buffer.from('notify-secret-of-the-test-1234').toString('base64')}`;
/** The receiver takes a moment, so that kills also meet a message on its way. */
const answerMs = 40;
/** Longer than a command takes to start and fail. */
const longestLifeMs = 1_500;

interface Received {
  readonly id: string;
  readonly event: string;
  readonly day: string;
}

it(`each of ${rounds} failures is sent, whatever is killed, with at most one repetition per kill`, {
  timeout: 600_000,
}, async () => {
  const random = seededRandom();
  const receiver = await startStandIn(() => ({ kind: 'text', status: 204, body: '', delayMs: answerMs }));
  onTestFinished(() => receiver.close());
  const { folder } = await prepareDay({
    hasWorkers: false,
    settings: {
      notify: [{ kind: 'webhook', url: `http://127.0.0.1:${receiver.port}`, secret, on: ['run-failed'] }],
    },
  });
  const days = Array.from({ length: rounds }, (_, index) =>
    new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10),
  );
  let kills = 0;

  async function failAndKill(day: string): Promise<void> {
    await folder.writeBookings('not a header\n', day);
    const run = folder.start(['run', '--day', day]);
    const isKilled = await Promise.race([run.ended.then(() => false), delay(random() * longestLifeMs, true)]);
    if (isKilled) {
      run.kill('SIGKILL');
      kills += 1;
      await run.ended;
    }
  }

  for (let index = 0; index < rounds; index += 2)
    await Promise.all(days.slice(index, index + 2).map(failAndKill));
  // A run that was killed before it failed fails now.
  for (const day of days) await folder.run(['run', '--day', day]);
  const readReceived = () => receiver.requests.map(({ body }) => JSON.parse(String(body)) as Received);
  const countTold = () => new Set(readReceived().map(({ day }) => day)).size;
  // What a dead process was sending is sent once its lease has ended.
  while (countTold() < rounds) await folder.run(['run', '--day', days[0] ?? '']);

  const received = readReceived();
  const ids = new Map<string, Set<string>>();
  for (const { id, day } of received) ids.set(day, (ids.get(day) ?? new Set()).add(id));
  expect([...ids.keys()].sort()).toEqual(days);
  expect([...ids.values()].filter((each) => each.size !== 1)).toEqual([]);
  expect(received.length - rounds).toBeLessThanOrEqual(kills);
  expect(kills).toBeGreaterThan(rounds / 10);
});
