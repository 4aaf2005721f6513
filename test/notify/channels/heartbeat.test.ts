import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Beat, createHeartbeat, type HeartbeatKind } from '../../../src/notify/channels/heartbeat.js';
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

const numbers = '412 accepted, 400 delivered, 3 rejected, 2 refused, 10 pending';
const cronitor = '/p/key-1/nightly?env=production';

// A start, a success, a failure, and a failure without a run.
it.each<[HeartbeatKind, path: string, calls: readonly string[]]>([
  [
    'healthchecks',
    '/ping/uuid-1?create=1',
    ['/start', '', '/fail', '/fail'].map((end) => `POST /ping/uuid-1${end}?create=1`),
  ],
  [
    'uptime-kuma',
    '/api/push/token-1?status=up&msg=OK&ping=',
    [
      `status=up&msg=2026-11-20: succeeded, ${numbers}&ping=12300`,
      `status=down&msg=2026-11-20: failed (steps-failed), ${numbers}&ping=12300`,
      'status=down&msg=2026-11-20: failed (broke-off)&ping=',
    ].map((query) => `GET /api/push/token-1?${query}`),
  ],
  [
    'cronitor',
    cronitor,
    [
      `state=run&series=${run.id}&message=2026-11-20: started`,
      `state=complete&series=${run.id}&message=2026-11-20: succeeded, ${numbers}&metric=count:400&metric=error_count:5&metric=duration:12.3`,
      `state=fail&series=${run.id}&message=2026-11-20: failed (steps-failed), ${numbers}&metric=count:400&metric=error_count:5&metric=duration:12.3`,
      'state=fail&message=2026-11-20: failed (broke-off)',
    ].map((query) => `GET ${cronitor}&${query}`),
  ],
])('A receiver of kind %s gets each beat in its form', async (kind, path, expected) => {
  const { heartbeat, calls } = await prepare(kind, path);
  for (const beat of [start, success, failure, brokeOff])
    expect(await heartbeat.send(beat, never)).toBeUndefined();
  expect(getEventListeners(never, 'abort')).toEqual([]);
  expect(calls().map(([call]) => decodeURIComponent(call.replaceAll('+', ' ')))).toEqual(expected);
  if (kind !== 'healthchecks') return;
  const [begun, ended, failed, broken] = calls().map(([, body]) => body);
  expect(begun).toBe(`day: 2026-11-20\nrun: ${run.id}\n`);
  expect(ended).toMatch(/^day: .*\nrun: .*\nread: (?:.*\n)*affected: unknown\n/);
  expect(failed).toContain('\nfailure: steps-failed\nread: ');
  expect(broken).toBe('day: 2026-11-20\nfailure: broke-off\n');
});

describe('A beat that is not accepted', () => {
  it.each<[what: string, beat: Beat, statuses: readonly number[], code: string | undefined]>([
    ['is retried within seconds if it ends a run', success, [503, 200], undefined],
    ['is given up after a few tries', failure, [503, 503, 503], 'http-503'],
    ['is not retried if it is a start: the end says more', start, [404], 'http-404'],
    ['is not redirected', failure, [302, 302, 302], 'http-302'],
  ])('%s', async (_, beat, statuses, code) => {
    const { heartbeat, calls } = await prepare('healthchecks', '/ping/uuid-1', (_, number) => ({
      ...{ kind: 'text', status: statuses[number - 1] ?? 500, body: 'secret words of the receiver' },
      headers: { location: '/elsewhere' },
    }));
    expect(await heartbeat.send(beat, never)).toBe(code);
    expect(calls()).toHaveLength(statuses.length);
    expect(calls().filter(([call]) => call.includes('elsewhere'))).toEqual([]);
  });

  it('is given up when its time is over, whatever the receiver does', async () => {
    const { heartbeat } = await prepare('healthchecks', '/ping/uuid-1', () => ({ kind: 'hang' }), {
      ...{ startMs: 20, endMs: 50 },
    });
    expect(await heartbeat.send(start, never)).toBe('timeout');
    expect(await heartbeat.send(success, never)).toBe('timeout');
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
