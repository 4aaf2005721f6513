import { describe, expect, it } from 'vitest';
import { createCanary, findCanaries } from '../support/canaries.js';
import { day, prepareDay } from '../support/day-folder.js';
import { prepareFileDay } from '../support/file-day.js';
import { type StandInHandler, success } from '../support/http-stand-in.js';
import { csvOf, makeBookings, toCsv } from '../support/made-bookings.js';
import { childrenOf, type ReceivedSpan, startOtlpReceiver } from '../support/otlp-receiver.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const postPath = '/api/3.0/hotels/ReviewMappingsOfBookedHotels';
const filePath = `${postPath}ByFile`;
/** What is sent soon, so that a process that is killed has sent what it ended. */
const soon = { OTEL_BSP_SCHEDULE_DELAY: '10' };
const unavailable = { kind: 'text', status: 503, body: 'odd' } as const;
const runArguments = ['run', '--day', day, '--json'];

const namesOf = (spans: readonly ReceivedSpan[]) => spans.map(({ name }) => name);

describe('the trace of a run', () => {
  it('by body has collecting, each step and its call, named after the semantic conventions', async () => {
    const receiver = await startOtlpReceiver();
    const { folder, standIn } = await prepareDay({ bookings: csvOf(120) });
    const { exitCode, report } = await folder.runDay({ env: receiver.env });
    expect(exitCode).toBe(0);

    const run = receiver.span('run');
    const named = { 'hotel_review.run.id': report.runId, 'hotel_review.day': day };
    expect(run.parentSpanId).toBeUndefined();
    expect(run).toMatchObject({
      hasFailed: false,
      links: [],
      attributes: {
        ...named,
        'hotel_review.run.delivery': 'body',
        'hotel_review.run.trigger': 'manual',
        'hotel_review.run.resumed': false,
        'hotel_review.run.state': 'succeeded',
        'hotel_review.bookings.accepted': 120,
        'hotel_review.bookings.delivered': 120,
      },
      resource: { 'service.name': 'hotel-review', 'service.instance.id': expect.any(String) },
    });
    expect(run.attributes).not.toHaveProperty('hotel_review.bookings.affected');
    expect(receiver.spans().map(({ traceId }) => traceId)).toEqual(Array(8).fill(run.traceId));
    const [collect, ...steps] = childrenOf(receiver, run);
    expect(collect).toMatchObject({
      name: 'collect',
      attributes: { ...named, 'hotel_review.bookings.read': 120 },
    });
    expect(namesOf(steps)).toEqual(['step batch', 'step batch', 'step batch']);
    for (const step of steps) {
      expect(step).toMatchObject({
        hasFailed: false,
        attributes: {
          ...named,
          'hotel_review.step.name': expect.stringMatching(/^batch \d+$/),
          'hotel_review.step.kind': 'batch',
          'hotel_review.step.attempt': 1,
          'hotel_review.step.outcome': 'done',
          'hotel_review.step.code': expect.any(String),
        },
      });
      const [call, ...others] = childrenOf(receiver, step);
      expect(others).toEqual([]);
      expect(call).toMatchObject({ name: `POST ${postPath}`, isClient: true, hasFailed: false });
      expect(call?.attributes).toEqual({
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'server.address': '127.0.0.1',
        'server.port': standIn.port,
        'url.full': `http://127.0.0.1:${standIn.port}${postPath}`,
        'url.path': postPath,
      });
    }
  });

  it('has a span for each attempt of a step, and says why it was repeated', async () => {
    const receiver = await startOtlpReceiver();
    const { folder } = await prepareDay({ bookings: csvOf(10) }, (_, number) =>
      number < 3 ? unavailable : success,
    );
    expect((await folder.runDay({ env: receiver.env })).exitCode).toBe(0);

    const attempts = receiver.named('step batch');
    const describeAttempt = ({ hasFailed, attributes }: ReceivedSpan) => ({
      hasFailed,
      attempt: attributes['hotel_review.step.attempt'],
      outcome: attributes['hotel_review.step.outcome'],
      code: attributes['error.type'],
    });
    expect(attempts.map(describeAttempt)).toEqual([
      { hasFailed: true, attempt: 1, outcome: 'retry', code: 'http-503' },
      { hasFailed: true, attempt: 2, outcome: 'retry', code: 'http-503' },
      { hasFailed: false, attempt: 3, outcome: 'done', code: undefined },
    ]);
    const calls = attempts.flatMap((attempt) => childrenOf(receiver, attempt));
    expect(calls.map(({ hasFailed, attributes }) => [hasFailed, attributes['error.type']])).toEqual([
      [true, '503'],
      [true, '503'],
      [false, undefined],
    ]);
    expect(receiver.span('run').hasFailed).toBe(false);
  });

  it('that fails has the code of its failure', async () => {
    const receiver = await startOtlpReceiver();
    const { folder } = await prepareDay({ bookings: csvOf(10) }, () => ({
      kind: 'text',
      status: 403,
      body: '',
    }));
    expect((await folder.runDay({ env: receiver.env })).exitCode).toBe(1);
    expect(receiver.span('run')).toMatchObject({
      hasFailed: true,
      attributes: { 'hotel_review.run.state': 'failed', 'error.type': expect.stringContaining('403') },
    });
    expect(receiver.span('step batch').attributes['hotel_review.step.outcome']).toBe('fatal');
  });

  it('of a day whose source is missing has a collect that failed', async () => {
    const receiver = await startOtlpReceiver();
    const { folder } = await prepareDay({ hasWorkers: false });
    expect((await folder.runDay({ env: receiver.env })).exitCode).toBe(1);
    expect(receiver.span('collect').hasFailed).toBe(true);
    expect(childrenOf(receiver, receiver.span('run'))).toEqual([receiver.span('collect')]);
  });
});

describe('the trace of a run by file', () => {
  const server = useSftpServer(openSsh);

  it('has the operations on the SFTP server, the call, and the wait for the result', async () => {
    const receiver = await startOtlpReceiver();
    const { folder } = await prepareFileDay(server(), { bookings: csvOf(20) });
    expect((await folder.runDay({ env: receiver.env })).exitCode).toBe(0);

    const run = receiver.span('run');
    const children = childrenOf(receiver, run);
    expect(new Set(namesOf(children))).toEqual(
      new Set([
        'collect',
        'step write',
        'step upload',
        'step trigger',
        'wait for result',
        'step await-result',
        'step archive',
      ]),
    );
    const operationsOf = (step: string) =>
      new Set(receiver.named(step).flatMap((attempt) => namesOf(childrenOf(receiver, attempt))));
    expect([...operationsOf('step upload')]).toEqual(
      expect.arrayContaining(['sftp connect', 'sftp mkdir', 'sftp upload', 'sftp rename']),
    );
    expect([...operationsOf('step trigger')]).toContain(`GET ${filePath}`);
    expect([...operationsOf('step await-result')]).toEqual(
      expect.arrayContaining(['sftp connect', 'sftp list', 'sftp download']),
    );
    expect(receiver.named('sftp download')[0]).toMatchObject({
      isClient: true,
      attributes: {
        'server.address': '127.0.0.1',
        'server.port': server().port,
        'hotel_review.sftp.bytes': expect.any(Number),
      },
    });
    const call = receiver.span(`GET ${filePath}`);
    expect(receiver.span('wait for result').startedAt).toBeGreaterThanOrEqual(Math.floor(call.startedAt));
  });

  it('holds no guest, reference, secret or query', async () => {
    const receiver = await startOtlpReceiver();
    const canaries = { name: createCanary('Canaria'), reference: createCanary('Ref') };
    const [first, ...others] = makeBookings(20);
    const guest = {
      ...(first as (typeof others)[0]),
      BookingClientName: canaries.name,
      BookingReferenceId: canaries.reference,
    };
    const secrets = { key: createCanary('key'), account: createCanary('account') };
    let failures = 0;
    // The stand-in adds what it received to each failure.
    const { folder } = await prepareFileDay(server(), {
      bookings: toCsv([guest, ...others]),
      settings: {
        service: { apiKey: secrets.key, accountId: secrets.account },
        file: { incomplete: 'post' },
      },
      onCall: async (call) => {
        failures += 1;
        if (failures < 3) return unavailable;
        await call.writeResult({ affected: [canaries.reference] });
        return success;
      },
    });
    expect((await folder.runDay({ env: receiver.env })).exitCode).toBe(0);
    const replay = ['replay', day, '--delivery', 'body', '--json'];
    expect((await folder.run(replay, { env: receiver.env })).exitCode).toBe(0);

    expect(receiver.named('run')).toHaveLength(2);
    const password = server().login.password ?? 'no-password';
    const query = { query: 'ftpFilePath', file: '20112026.csv', password };
    expect(findCanaries(receiver.bytes(), { ...canaries, ...secrets, ...query })).toEqual([]);
  });
});

describe('a run that is continued', () => {
  /** Answers one call, and then none. */
  const hangAfterFirst: StandInHandler = (_, number) => (number === 1 ? success : { kind: 'hang' });

  it('after it was killed has a trace of its own, linked to the first one', async () => {
    const receiver = await startOtlpReceiver();
    const service = { handler: hangAfterFirst };
    const { folder, standIn } = await prepareDay(
      { bookings: csvOf(100), settings: { body: { batchSize: 50, concurrency: 1 } } },
      (request, number) => service.handler(request, number),
    );
    const killed = folder.start(runArguments, { env: { ...receiver.env, ...soon } });
    await standIn.received(2);
    await receiver.received(1);
    await expect.poll(() => receiver.named('step batch')).toHaveLength(1);
    killed.kill('SIGKILL');
    await killed.ended;
    service.handler = () => success;
    const { exitCode, report } = await folder.runDay({ env: receiver.env });
    expect(exitCode).toBe(0);

    const [before, after] = receiver.named('step batch') as [ReceivedSpan, ReceivedSpan];
    const resumed = receiver.span('run');
    expect(resumed.attributes).toMatchObject({
      'hotel_review.run.id': report.runId,
      'hotel_review.run.resumed': true,
      'hotel_review.run.joined': false,
    });
    expect(resumed.links).toEqual([{ traceId: before.traceId, spanId: before.parentSpanId }]);
    expect(resumed.traceId).not.toBe(before.traceId);
    expect([after.traceId, after.parentSpanId]).toEqual([resumed.traceId, resumed.spanId]);
    expect(after.resource['service.instance.id']).not.toBe(before.resource['service.instance.id']);
  });

  it('after Ctrl-C: what was interrupted is sent before the process ends', async () => {
    const receiver = await startOtlpReceiver();
    const { folder, standIn } = await prepareDay(
      { bookings: csvOf(100), settings: { body: { batchSize: 50, concurrency: 1 } } },
      hangAfterFirst,
    );
    const command = folder.start(runArguments, { env: receiver.env });
    await standIn.received(2);
    command.kill('SIGINT');
    expect((await command.ended).exitCode).toBe(1);

    const run = receiver.span('run');
    expect(run.hasFailed).toBe(false);
    const steps = childrenOf(receiver, run).filter(({ name }) => name === 'step batch');
    expect(steps.map(({ attributes }) => attributes['hotel_review.step.outcome'])).toEqual([
      'done',
      'interrupted',
    ]);
    expect(receiver.named(`POST ${postPath}`).at(-1)?.attributes['error.type']).toBe('aborted');
  });
});
