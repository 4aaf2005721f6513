import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { accountId, apiKey, day, prepareDay } from '../support/day-folder.js';
import { csvOf } from '../support/made-bookings.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';

const runArguments = ['run', '--day', day, '--json'];

describe('a collector', () => {
  const manyBatches = { bookings: csvOf(40), settings: { body: { batchSize: 2 } } };
  const notice =
    /warning: ([\d,]+) of ([\d,]+) spans of the trace did not reach the collector at (\S+) \((\S+)\)/g;

  it('that never answers fails no run, and is named once', async () => {
    const receiver = await startOtlpReceiver(() => ({ kind: 'hang' }));
    const { folder } = await prepareDay(manyBatches);
    const { exitCode, report, stderr } = await folder.runDay({ env: receiver.env, asProcess: true });
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ state: 'succeeded', counts: { delivered: 40 } });
    const [loss, ...others] = [...stderr.matchAll(notice)];
    expect(others).toEqual([]);
    expect(loss?.slice(1)).toEqual(['42', '42', `127.0.0.1:${receiver.port}`, 'no-answer']);
  });

  it('that is slow loses what does not fit into the queue, which is counted', async () => {
    const receiver = await startOtlpReceiver(() => ({ kind: 'json', body: {}, delayMs: 500 }));
    const { folder } = await prepareDay(manyBatches);
    const env = { ...receiver.env, OTEL_BSP_MAX_QUEUE_SIZE: '4', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2' };
    const { exitCode, stderr } = await folder.runDay({ env, asProcess: true });
    expect(exitCode).toBe(0);
    const [loss] = [...stderr.matchAll(notice)];
    expect(loss?.[2]).toBe('42');
    expect(loss?.[4]).toBe('queue-full');
    expect(Number(loss?.[1]) + receiver.spans().length).toBe(42);
  });

  it('that refuses spans is named with the status of its answer, and nothing else from it', async () => {
    const receiver = await startOtlpReceiver(() => ({ kind: 'text', status: 401, body: `no: ${apiKey}` }));
    const { folder } = await prepareDay({ bookings: csvOf(10) });
    const secret = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20c2VjcmV0' };
    const { stderr } = await folder.runDay({ env: { ...receiver.env, ...secret }, asProcess: true });
    expect(receiver.bytes().toString()).toContain('Basic c2VjcmV0');
    expect([...stderr.matchAll(notice)].map(([, ...words]) => words[3])).toEqual(['http-401']);
    expect(stderr).not.toContain(accountId);
  });

  it('receives nothing from commands that only read, nor if the sampler or OTEL_SDK_DISABLED says so', async () => {
    const receiver = await startOtlpReceiver();
    const { folder } = await prepareDay({ bookings: csvOf(10) });
    const { env } = receiver;
    const off = { ...env, OTEL_TRACES_SAMPLER: 'always_off' };
    expect((await folder.runDay({ env: off, asProcess: true })).exitCode).toBe(0);
    const disabled = { ...env, OTEL_SDK_DISABLED: 'true' };
    expect((await folder.run(['replay', day], { env: disabled })).exitCode).toBe(0);
    expect((await folder.run(['status'], { env })).exitCode).toBe(0);
    expect(receiver.bytes()).toHaveLength(0);
  });

  it('whose address is no URL is reported, and the run is not traced', async () => {
    const { folder } = await prepareDay({ bookings: csvOf(10) });
    const { exitCode, stderr } = await folder.runDay({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' } });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('warning: no traces: ');
  });
});

describe('without a collector', () => {
  /** Writes the address of each module that is loaded to a file. */
  const hooks = `import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED, url + '\\n');
  return next(url, context);
}`;
  const toDataUrl = (code: string) => `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(toDataUrl(hooks))});`;

  it('nothing of OpenTelemetry is loaded', async () => {
    const receiver = await startOtlpReceiver();
    const { folder } = await prepareDay({ bookings: csvOf(10) });
    const findExporter = async (args: readonly string[], env: NodeJS.ProcessEnv) => {
      const list = `${folder.path}/loaded-${args[0]}-${Object.keys(env).length}`;
      const hooked = { LOADED: list, NODE_OPTIONS: `--import=${toDataUrl(register)}`, ...env };
      expect((await folder.start(args, { env: hooked }).ended).exitCode).toBe(0);
      const urls = (await readFile(list, 'utf8')).split('\n').filter((url) => url.startsWith('file:'));
      const codes = await Promise.all(urls.map((url) => readFile(new URL(url), 'utf8')));
      expect(urls.length).toBeGreaterThan(3);
      return codes.some((code) => code.includes('OTLPTraceExporter'));
    };
    expect(await findExporter(runArguments, {})).toBe(false);
    expect(await findExporter(['status'], receiver.env)).toBe(false);
    expect(await findExporter(['replay', day], receiver.env)).toBe(true);
  });
});
