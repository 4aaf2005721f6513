import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { vi } from 'vitest';
import { patienceMs } from './patience.js';
import { findFreePort, spawnServer } from './sftp-server.js';

const program = '/usr/bin/prometheus-node-exporter';

/** What is missing here to start a node_exporter of our own. */
export const nodeExporterNeeds = existsSync(program)
  ? undefined
  : 'needs node_exporter: apt-get install prometheus-node-exporter';

/** Debian's node_exporter, which serves nothing but the metrics in the files of this folder. */
export async function startNodeExporter(folder: string) {
  const port = await findFreePort();
  const server = spawnServer(program, [
    `--web.listen-address=127.0.0.1:${port}`,
    '--collector.disable-defaults',
    '--collector.textfile',
    `--collector.textfile.directory=${folder}`,
  ]);
  const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  await vi.waitUntil(
    () => {
      if (server.exitCode !== null) throw new Error('node_exporter ended');
      return scrape().catch(() => undefined);
    },
    { timeout: patienceMs, interval: 20 },
  );
  return {
    scrape,
    async stop(): Promise<void> {
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
    },
  };
}
