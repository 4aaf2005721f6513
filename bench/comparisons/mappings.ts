import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Comparison, Scale } from '../comparison.js';
import { findTimeObstacle, measureProcess } from '../harness/measured-process.js';

const command = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const standIn = fileURLToPath(new URL('../stand-ins/mappings-service.ts', import.meta.url));

export interface MappingsOptions {
  readonly name: string;
  readonly work: string;
  readonly mappings: Readonly<Record<Scale, number>>;
}

/** The local copy of a large account, created from scratch. */
export function createMappingsComparison({ name, work, mappings }: MappingsOptions): Comparison {
  return {
    name,
    work,
    against: '–',
    unit: 's',
    reach: { ours: { atMost: 300, unit: 'MB' } },
    findObstacle: findTimeObstacle,
    async prepare(scale) {
      const count = mappings[scale];
      const folder = await mkdtemp(join(tmpdir(), 'hotel-review-bench-'));
      const configuration = join(folder, 'hotel-review.yaml');
      const service = fork(standIn, [String(count)], { execArgv: ['--import', 'tsx'] });
      const [port] = await once(service, 'message');
      await writeFile(
        configuration,
        JSON.stringify({
          service: { baseUrl: `http://127.0.0.1:${port}/api/3.0`, apiKey: 'bench', accountId: 'bench' },
          source: { kind: 'csv', path: 'bookings.csv' },
        }),
      );
      const measure = (...words: readonly string[]) =>
        measureProcess([process.execPath, command, ...words, '--config', configuration], { cwd: folder });
      const forget = () => rm(join(folder, 'data'), { recursive: true, force: true });
      return {
        ours: {
          name: 'booked-hotel review',
          async run() {
            await forget();
            const { wallSeconds, cpuSeconds, peakMb } = await measure('mappings', 'sync');
            return { value: wallSeconds, cpuSeconds, peakMb };
          },
        },
        notes: ['Pages of 1,000, one durable transaction each, generated on the same cores.'],
        async close() {
          const ended = once(service, 'exit');
          service.disconnect();
          await ended;
          await rm(folder, { recursive: true });
        },
      };
    },
  };
}
