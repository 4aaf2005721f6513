import { describe, expect, it, onTestFinished } from 'vitest';
import { businessDayAt } from '../../src/booking/business-day.js';
import { prepareDay, type Settings } from '../support/day-folder.js';
import { hookSecret } from '../support/hook-secrets.js';
import { type StandInHandler, startStandIn, success } from '../support/http-stand-in.js';
import { csvOf } from '../support/made-bookings.js';

const yesterday = businessDayAt(new Date(), 'Europe/Madrid').previous();
const accepts: StandInHandler = () => ({ kind: 'text', body: 'OK' });

interface Prepared {
  readonly service: StandInHandler;
  readonly receive: StandInHandler;
  readonly hook: Settings;
}

/** A day to review, and a receiver of heartbeats whose address holds a secret. */
async function prepare(
  kind: string,
  { service = () => success, receive = accepts, hook = {} }: Partial<Prepared> = {},
) {
  const receiver = await startStandIn(receive);
  onTestFinished(() => receiver.close());
  const url = `http://127.0.0.1:${receiver.port}/\${HEARTBEAT_TOKEN}`;
  const { folder } = await prepareDay(
    { settings: { heartbeat: { kind, url }, hook }, hasWorkers: false },
    service,
  );
  await folder.writeBookings(csvOf(7), yesterday.iso);
  const env = { HEARTBEAT_TOKEN: 'token-of-the-heartbeat' };
  return {
    ...{ folder, env, receiver },
    run: (...args: string[]) => folder.run([...args, '--json'], { env }),
    calls: () => receiver.requests.map(({ method, url: path }) => `${method} ${path}`),
    bodies: () => receiver.requests.map(({ body }) => body.toString()),
  };
}

describe('run reports to the service of `heartbeat` how last night went', () => {
  it('in the form of Healthchecks, without names and references', async () => {
    const { run, calls, bodies } = await prepare('healthchecks');
    expect(await run('run')).toMatchObject({ exitCode: 0 });
    expect(calls()).toEqual(['POST /token-of-the-heartbeat/start', 'POST /token-of-the-heartbeat']);
    expect(bodies()[1]).toContain(`day: ${yesterday.iso}\n`);
    expect(bodies()[1]).toContain('delivered: 7\n');
    expect(bodies().join()).not.toMatch(/Guest|BR-|00\dA/);
    // Nothing happened, so nothing is sent.
    expect(await run('run')).toMatchObject({ exitCode: 0 });
    expect(calls()).toHaveLength(2);
  });

  it('in the form of Uptime Kuma', async () => {
    const { run, calls } = await prepare('uptime-kuma');
    expect(await run('run')).toMatchObject({ exitCode: 0 });
    expect(calls()).toEqual([
      expect.stringMatching(/^GET \/token-of-the-heartbeat\?status=up&msg=.*7\+delivered.*&ping=\d+$/),
    ]);
  });

  it('in the form of Cronitor', async () => {
    const { run, calls } = await prepare('cronitor');
    expect(await run('run')).toMatchObject({ exitCode: 0 });
    expect(calls()).toEqual([
      expect.stringMatching(/^GET \/token-of-the-heartbeat\?state=run&series=/),
      expect.stringMatching(/^GET \/token-of-the-heartbeat\?state=complete&series=.*&metric=count%3A7&/),
    ]);
  });

  it('with the counts of a run that failed', async () => {
    const { run, calls, bodies } = await prepare('healthchecks', {
      service: () => ({ kind: 'text', status: 401, body: 'who are you?' }),
    });
    expect(await run('run')).toMatchObject({ exitCode: 1 });
    expect(calls().at(-1)).toBe('POST /token-of-the-heartbeat/fail');
    expect(bodies().at(-1)).toMatch(/^failure: \S+$/m);
    expect(bodies().at(-1)).toContain('accepted: 7\n');
    expect(bodies().join()).not.toMatch(/Guest|BR-/);
  });

  it('even if the source is missing', async () => {
    const { run, calls, bodies, folder } = await prepare('healthchecks');
    await folder.configure({ source: { kind: 'csv', path: 'nowhere-{day}.csv' } });
    expect(await run('run')).toMatchObject({ exitCode: 1 });
    expect(calls().at(-1)).toBe('POST /token-of-the-heartbeat/fail');
    expect(bodies().at(-1)).toContain('failure: missing\n');
  });

  it('and so does replay, for last night only', async () => {
    const { run, calls, folder } = await prepare('healthchecks');
    const dayBefore = yesterday.previous().iso;
    await folder.writeBookings(csvOf(3), dayBefore);
    expect(await run('replay', dayBefore)).toMatchObject({ exitCode: 0 });
    expect(calls()).toEqual([]);
    expect(await run('replay', dayBefore, '--to', yesterday.iso, '--all', '--reason', 'again')).toMatchObject(
      { exitCode: 0 },
    );
    expect(calls()).toEqual(['POST /token-of-the-heartbeat/start', 'POST /token-of-the-heartbeat']);
  });
});

describe('serve', () => {
  it('tells it about the run that the hook starts', async () => {
    const { folder, env, receiver, calls } = await prepare('healthchecks', { hook: { secret: hookSecret } });
    const serving = folder.call(['serve', '--port', '0', '--log-level', 'info'], { env });
    await serving.wrote('"serving"');
    const [, url = ''] = /"url":"(http:[^"]+)"/.exec(serving.stderr) ?? [];
    const answer = await fetch(`${url}/hooks/end-of-day`, {
      method: 'POST',
      headers: { authorization: `Bearer ${hookSecret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ day: yesterday.iso }),
    });
    expect(answer.status).toBe(202);
    await receiver.received(2);
    expect(calls()).toEqual(['POST /token-of-the-heartbeat/start', 'POST /token-of-the-heartbeat']);
    serving.stop();
    expect((await serving.ended).exitCode).toBe(0);
  });
});

describe('A receiver', () => {
  it('that never answers changes nothing but a warning', async () => {
    const { run } = await prepare('healthchecks', { receive: () => ({ kind: 'hang' }) });
    const { exitCode, stderr, json } = await run('run');
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({ state: 'succeeded', counts: { delivered: 7 } });
    expect(stderr.match(/the heartbeat could not be sent to 127\.0\.0\.1:\d+ \(timeout\)/g)).toHaveLength(1);
  });

  it('that refuses changes nothing but a warning, which quotes nothing', async () => {
    const receive: StandInHandler = ({ url }) => ({ kind: 'text', status: 500, body: `no: ${url}` });
    const { run, calls } = await prepare('cronitor', { receive });
    const { exitCode, stderr } = await run('run');
    expect(exitCode).toBe(0);
    expect(calls().length).toBeGreaterThan(2);
    expect(stderr.match(/the heartbeat could not be sent to 127\.0\.0\.1:\d+ \(http-500\)/g)).toHaveLength(1);
  });
});
