import type { Log } from '../src/cli/log.js';
import { readTracesAddress } from '../src/config/environment.js';
import { describeHost } from '../src/http/url.js';
import { formatCount } from '../src/text/format.js';
import { print } from '../src/text/visible.js';
import { noTracing, type Tracing } from '../src/traces/tracing.js';
import { clock } from './clock.js';
import type { CommandIo } from './process.js';
import { readVersion } from './version.js';

/** Starts tracing if the environment names a collector. Without one, nothing of OpenTelemetry is loaded. */
export async function openTracing(
  { env, stderr }: Pick<CommandIo, 'env' | 'stderr'>,
  log: Log | undefined,
): Promise<Tracing> {
  const url = readTracesAddress(env);
  if (url === undefined) return noTracing;
  const warn = (fields: object, words: string, line: string) =>
    log ? log.warn(fields, words) : void print(stderr, `warning: ${line}\n`);
  if (!URL.canParse(url)) {
    const message = 'no traces: the address of the collector in the environment is not a URL';
    warn({}, message, message);
    return noTracing;
  }
  const { startTracing } = await import('../src/traces/start-tracing.js');
  const collector = describeHost(url);
  return startTracing({
    url,
    version: readVersion(),
    clock,
    // A short command reports it once, at its end.
    onFailure: (reason) => log?.warn({ collector, reason }, 'traces are not accepted: spans are lost'),
    onLoss: ({ lost, of, reason }) =>
      warn(
        { collector, lost, of, reason },
        'spans were lost',
        `${formatCount(lost)} of ${formatCount(of)} spans of the trace did not reach the collector at ${collector} (${reason})`,
      ),
  });
}
