import { expect, it } from 'vitest';
import { readTracesAddress } from '../../src/config/environment.js';

const ofAll = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318' };
const ofTraces = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/otlp/' };

it.each<[string, NodeJS.ProcessEnv, string | undefined]>([
  ['nothing is set', {}, undefined],
  ['a collector is named', ofAll, 'http://otel:4318/v1/traces'],
  ['its address has a path', { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a/otlp/' }, 'https://a/otlp/v1/traces'],
  [
    'one for traces is named, which is taken as it is',
    { ...ofAll, ...ofTraces },
    'https://traces.example.com/otlp/',
  ],
  ['one is named with blanks', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ' http://a/b ' }, 'http://a/b'],
  [
    'the variable is empty',
    { OTEL_EXPORTER_OTLP_ENDPOINT: ' ', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '' },
    undefined,
  ],
  ['OpenTelemetry is disabled', { ...ofAll, OTEL_SDK_DISABLED: 'True' }, undefined],
  ['it is not disabled', { ...ofAll, OTEL_SDK_DISABLED: 'false' }, 'http://otel:4318/v1/traces'],
  ['traces go nowhere', { ...ofTraces, OTEL_TRACES_EXPORTER: 'none' }, undefined],
])('traces go to the collector that the environment names: %s', (_what, env, address) => {
  expect(readTracesAddress(env)).toBe(address);
});
