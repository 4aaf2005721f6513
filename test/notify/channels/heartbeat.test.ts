import { describe, expect, it, onTestFinished } from 'vitest';
import { createHeartbeat } from '../../../src/notify/channels/heartbeat.js';
import type { Beat, HeartbeatKind } from '../../../src/notify/channels/heartbeat-forms.js';
import { someRun } from '../../review/some-run.js';
import { type StandInHandler, startStandIn } from '../../support/http-stand-in.js';
import { patienceMs } from '../../support/patience.js';

const { counts } = someRun({
  counts: { accepted: 412, delivered: 400, rejected: 3, refused: 2, pending: 10, affected: null },
});
const run = { id: '20261120-k3f9xq7d', counts, durationMs: 12_300 };
const start: Beat = { state: 'start', day: '2026-11-20', run };
const success: Beat = { state: 'success', day: '2026-11-20', run };
const failure: Beat = { state: 'failure', day: '2026-11-20', run, code: 'steps-failed' };
const brokeOff: Beat = { state: 'failure', day: '2026-11-20', code: 'broke-off' };

const goes: StandInHandler = () => ({ kind: 'text', body: 'OK' });
const never = new AbortController().signal;

/** A receiver, and a heartbeat to the path there. */
async function prepare(
  kind: HeartbeatKind,
  path: string,
  handler: StandInHandler = goes,
  times = { startMs: patienceMs, endMs: patienceMs },
) {
  const receiver = await startStandIn(handler);
  const heartbeat = createHeartbeat({
    ...{ kind, url: `http://127.0.0.1:${receiver.port}${path}`, random: () => 0 },
    ...times,
  });
  onTestFinished(async () => {
    await heartbeat.close();
    await receiver.close();
  });
  const calls = () =>
    receiver.requests.map(({ method, url, body }) => [`${method} ${url}`, body.toString()] as const);
  return { heartbeat, receiver, calls };
}

describe('The receiver gets', () => {
  it('in the form of Healthchecks: the outcome in the path, and the counts in the body', async () => {
    const { heartbeat, calls } = await prepare('healthchecks', '/ping/uuid-1?create=1');
    for (const beat of [start, success, failure, brokeOff])
      expect(await heartbeat.send(beat, never)).toBeUndefined();
    expect(calls().map(([call]) => call)).toEqual([
      'POST /ping/uuid-1/start?create=1',
      'POST /ping/uuid-1?create=1',
      'POST /ping/uuid-1/fail?create=1',
      'POST /ping/uuid-1/fail?create=1',
    ]);
    const bodies = calls().map(([, body]) => body);
    expect(bodies[0]).toBe('day: 2026-11-20\nrun: 20261120-k3f9xq7d\n');
    expect(bodies[1]).toContain('accepted: 412\n');
    expect(bodies[1]).toContain('affected: unknown\n');
    expect(bodies[1]).not.toContain('failure');
    expect(bodies[2]).toContain('failure: steps-failed\n');
    expect(bodies[2]).toContain('pending: 10\n');
    expect(bodies[3]).toBe('day: 2026-11-20\nfailure: broke-off\n');
  });

  it('in the form of Uptime Kuma: status, message and duration, and nothing for a start', async () => {
    const { heartbeat, calls } = await prepare('uptime-kuma', '/api/push/token-1?status=up&msg=OK&ping=');
    for (const beat of [start, success, failure, brokeOff])
      expect(await heartbeat.send(beat, never)).toBeUndefined();
    const read = calls().map(([call]) => new URL(call.replace('GET ', ''), 'http://receiver'));
    expect(read.map(({ pathname }) => pathname)).toEqual(Array(3).fill('/api/push/token-1'));
    expect(read.map(({ searchParams }) => [...searchParams])).toEqual([
      [
        ['status', 'up'],
        ['msg', '2026-11-20: succeeded, 412 accepted, 400 delivered, 3 rejected, 2 refused, 10 pending'],
        ['ping', '12300'],
      ],
      [
        ['status', 'down'],
        [
          'msg',
          '2026-11-20: failed (steps-failed), 412 accepted, 400 delivered, 3 rejected, 2 refused, 10 pending',
        ],
        ['ping', '12300'],
      ],
      [
        ['status', 'down'],
        ['msg', '2026-11-20: failed (broke-off)'],
        ['ping', ''],
      ],
    ]);
  });

  it('in the form of Cronitor: state, series, message and metrics', async () => {
    const { heartbeat, calls } = await prepare('cronitor', '/p/key-1/nightly?env=production');
    for (const beat of [start, success, brokeOff]) expect(await heartbeat.send(beat, never)).toBeUndefined();
    const read = calls().map(([call]) => new URL(call.replace('GET ', ''), 'http://receiver'));
    expect(read.map(({ pathname }) => pathname)).toEqual(Array(3).fill('/p/key-1/nightly'));
    expect(read.map(({ searchParams }) => searchParams.get('env'))).toEqual(Array(3).fill('production'));
    expect(read.map(({ searchParams }) => searchParams.get('state'))).toEqual(['run', 'complete', 'fail']);
    expect(read.map(({ searchParams }) => searchParams.get('series'))).toEqual([run.id, run.id, null]);
    expect(read.map(({ searchParams }) => searchParams.getAll('metric'))).toEqual([
      [],
      ['count:400', 'error_count:5', 'duration:12.3'],
      [],
    ]);
    expect(read.map(({ searchParams }) => searchParams.get('message'))[2]).toBe(
      '2026-11-20: failed (broke-off)',
    );
  });
});

describe('A beat that is not accepted', () => {
  it('is retried within seconds if it ends a run, and given up with a code', async () => {
    const { heartbeat, calls } = await prepare('healthchecks', '/ping/uuid-1', (_, number) => ({
      kind: 'text',
      status: number === 2 ? 200 : 503,
      body: 'secret words of the receiver',
    }));
    expect(await heartbeat.send(success, never)).toBeUndefined();
    expect(calls()).toHaveLength(2);
    expect(await heartbeat.send(failure, never)).toBe('http-503');
    expect(calls()).toHaveLength(5);
  });

  it('is not retried if it is a start: the end says more', async () => {
    const { heartbeat, calls } = await prepare('healthchecks', '/ping/uuid-1', () => ({
      ...{ kind: 'text', status: 404, body: 'not found' },
    }));
    expect(await heartbeat.send(start, never)).toBe('http-404');
    expect(calls()).toHaveLength(1);
  });

  it('is given up when its time is over, whatever the receiver does', async () => {
    const { heartbeat } = await prepare('healthchecks', '/ping/uuid-1', () => ({ kind: 'hang' }), {
      ...{ startMs: 20, endMs: 50 },
    });
    expect(await heartbeat.send(start, never)).toBe('timeout');
    expect(await heartbeat.send(success, never)).toBe('timeout');
  });

  it('is not redirected', async () => {
    const { heartbeat, calls } = await prepare('uptime-kuma', '/api/push/token-1', () => ({
      ...{ kind: 'text', status: 302, body: '', headers: { location: '/elsewhere' } },
    }));
    expect(await heartbeat.send(failure, never)).toBe('http-302');
    expect(
      calls()
        .map(([call]) => call)
        .filter((call) => call.includes('elsewhere')),
    ).toEqual([]);
  });

  it('is given up when the signal aborts', async () => {
    const { heartbeat, receiver } = await prepare('healthchecks', '/ping/uuid-1', () => ({ kind: 'hang' }));
    const stopping = new AbortController();
    const sending = heartbeat.send(success, stopping.signal);
    await receiver.received(1);
    stopping.abort(new Error('stopped'));
    await expect(sending).rejects.toThrow('stopped');
  });
});
