import { openSsh } from '../../test/support/sftp-programs.js';
import type { Comparison, Contestant, Measurement, Reach } from '../comparison.js';
import { type FileStage, prepareFileStage } from '../file-stage.js';
import { findMissingProgram } from '../harness/environment.js';
import { findTimeObstacle } from '../harness/measured-process.js';

interface DayPair {
  readonly large: number;
  readonly small: number;
}

export interface GrowthOptions {
  readonly name: string;
  readonly grows: 'memory' | 'time';
  readonly bookings: Readonly<Record<'full' | 'quick', DayPair>>;
  readonly reach: Reach;
}

/** The same task on a much larger day, by file, which needs more time and memory than by body. */
export function createGrowthComparison({ name, grows, bookings, reach }: GrowthOptions): Comparison {
  const { large, small } = bookings.full;
  return {
    name,
    work: `${grows === 'memory' ? 'peak memory' : 'time'}, ${show(large)} bookings by file`,
    against: `${show(small)} bookings`,
    unit: grows === 'memory' ? 'MB' : 's',
    reach,
    // A large day takes minutes, so one round is enough.
    rounds: 2,
    findObstacle: () =>
      findTimeObstacle() ?? openSsh.needs ?? findMissingProgram('ssh-keyscan', 'openssh-client'),
    async prepare(scale) {
      const days = bookings[scale];
      const stages = {
        large: await prepareFileStage(days.large),
        small: await prepareFileStage(days.small),
      };
      const contestant = (size: keyof DayPair): Contestant => ({
        name: `${show(days[size])} bookings`,
        run: () => measure(stages[size], grows),
      });
      return {
        ours: contestant('large'),
        other: contestant('small'),
        notes: [
          grows === 'memory'
            ? 'Peak resident memory, program and libraries included.'
            : "With start-up, without the service's time.",
        ],
        async close() {
          for (const stage of Object.values(stages)) await stage.close();
        },
      };
    },
  };
}

async function measure(stage: FileStage, grows: GrowthOptions['grows']): Promise<Measurement> {
  const { workSeconds, cpuSeconds, peakMb } = await stage.deliver('ours');
  return { value: grows === 'memory' ? peakMb : workSeconds, cpuSeconds, peakMb };
}

function show(count: number): string {
  return count.toLocaleString('en-GB');
}
