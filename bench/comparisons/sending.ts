import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BodyStage, day, prepareBodyStage } from '../body-stage.js';
import type { Comparison, Measurement, Reach, Scale } from '../comparison.js';
import { findTimeObstacle, measureProcess } from '../harness/measured-process.js';

export interface SendingOptions {
  readonly name: string;
  readonly work: string;
  readonly bookings: Readonly<Record<Scale, number>>;
  /** The service's latency per answer, in addition to parsing. */
  readonly latencyMs: number;
  readonly reach: Reach;
}

/** The default of `body.concurrency`. */
const connections = 8;
const peer = fileURLToPath(new URL('../peers/autocannon.ts', import.meta.url));

/** The sending phase of a run by body, against a tool built for posting only. */
export function createSendingComparison(options: SendingOptions): Comparison {
  const { name, work, bookings, latencyMs, reach } = options;
  return {
    name,
    work,
    against: 'autocannon',
    unit: 'bookings/s',
    reach,
    findObstacle: findTimeObstacle,
    async prepare(scale) {
      const stage = await prepareBodyStage(bookings[scale]);
      const bodies = join(stage.folder, 'bodies.ndjson');
      const url = `${stage.service.baseUrl}/hotels/ReviewMappingsOfBookedHotels`;
      const post = [process.execPath, '--import', 'tsx', peer, url, bodies, `${connections}`];
      const ours = async () => {
        await rm(join(stage.folder, 'data'), { recursive: true, force: true });
        return stage.command('run', '--day', day);
      };
      // The peer posts the bodies that the service received from us.
      await send(stage, await ours(), { bookings: bookings[scale], recordTo: bodies });
      return {
        ours: {
          name: 'booked-hotel review',
          run: async () => send(stage, await ours(), { bookings: bookings[scale], latencyMs }),
        },
        other: {
          name: 'autocannon',
          run: () => send(stage, post, { bookings: bookings[scale], latencyMs }),
        },
        notes: [
          'From first call to last response; the service parses each body.',
          `autocannon sends the same bodies over ${connections} connections.`,
          'CPU and memory of the whole command; ours also collects and records each response durably.',
        ],
        close: () => stage.close(),
      };
    },
  };
}

/** @throws Error when the service did not receive each booking once */
async function send(
  { folder, service }: BodyStage,
  command: readonly string[],
  {
    bookings,
    ...how
  }: { readonly bookings: number; readonly latencyMs?: number; readonly recordTo?: string },
): Promise<Measurement> {
  await service.begin(how);
  const { cpuSeconds, peakMb } = await measureProcess(command, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  });
  const received = await service.end();
  if (received.bookings !== bookings)
    throw new Error(`${folder}: the service received ${received.bookings} bookings, expected ${bookings}`);
  return { value: bookings / received.seconds, cpuSeconds, peakMb };
}
