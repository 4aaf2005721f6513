import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Comparison, Scale } from '../comparison.js';
import { findTimeObstacle, measureProcess } from '../harness/measured-process.js';
import { writeMappingFile } from '../made-mappings.js';

const command = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const standIn = fileURLToPath(new URL('../stand-ins/mappings-service.ts', import.meta.url));

export interface MappingsOptions {
  readonly name: string;
  readonly work: string;
  readonly does: 'sync' | 'compare';
  readonly mappings: Readonly<Record<Scale, number>>;
}

/** The local copy of a large account: created from scratch, or compared with an export of the service. */
export function createMappingsComparison({ name, work, does, mappings }: MappingsOptions): Comparison {
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
      const [configuration, exported] = [join(folder, 'hotel-review.yaml'), join(folder, 'mappings.csv')];
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
      if (does === 'compare') {
        await writeMappingFile(exported, count);
        await measure('mappings', 'sync');
      }
      return {
        ours: {
          name: 'booked-hotel review',
          async run() {
            if (does === 'sync') await forget();
            const { wallSeconds, cpuSeconds, peakMb } =
              does === 'sync'
                ? await measure('mappings', 'sync')
                : await measure('export', 'compare', exported);
            return { value: wallSeconds, cpuSeconds, peakMb };
          },
        },
        notes: [
          does === 'sync'
            ? 'Pages of 1,000, one durable transaction each, generated on the same cores.'
            : 'Compared with an equal copy, with start-up.',
        ],
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
