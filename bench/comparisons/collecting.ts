import type { Comparison, Contestant, Measurement, Scale } from '../comparison.js';
import { findMissingProgram } from '../harness/environment.js';
import { findTimeObstacle, type MeasuredProcess, measureProcess } from '../harness/measured-process.js';
import { prepareSqlStage, type SqlStage, sqlServers } from '../sql-stage.js';

export interface CollectingOptions {
  readonly name: string;
  readonly database: keyof typeof sqlServers;
  readonly bookings: Readonly<Record<Scale, number>>;
}

/** A day in a database: read directly, or exported by the database's own program and read from the file. */
export function createCollectingComparison({ name, database, bookings }: CollectingOptions): Comparison {
  const { title, needs, client } = sqlServers[database];
  return {
    name,
    work: `collecting ${show(bookings.full)} bookings from ${title}`,
    against: `${client.program} to a file, file as source`,
    unit: 's',
    reach: { ratio: { atMost: 1 }, ours: { atMost: 300, unit: 'MB' } },
    findObstacle: () =>
      findTimeObstacle() ?? needs ?? findMissingProgram(client.program, client.debianPackage),
    async prepare(scale) {
      const stage = await prepareSqlStage(database, bookings[scale]);
      const contestant = (name: string, run: () => Promise<Measurement>): Contestant => ({ name, run });
      return {
        ours: contestant('kind: sql', () => collect(stage, bookings[scale], 'sql')),
        other: contestant(`${client.program} and kind: csv`, async () => {
          const exported = await measureProcess(stage.exportCommand, { env: stage.exportEnvironment });
          return add(await collect(stage, bookings[scale], 'csv'), exported);
        }),
        notes: [
          'A whole `run` by body without the time from first call to last response. The server shares the cores.',
          client.note,
        ],
        close: () => stage.close(),
      };
    },
  };
}

/** @throws Error when the service did not receive each booking once */
async function collect(stage: SqlStage, bookings: number, kind: 'sql' | 'csv'): Promise<Measurement> {
  await stage.configure(kind);
  await stage.service.begin({ parses: false });
  const { wallSeconds, cpuSeconds, peakMb } = await measureProcess(stage.runCommand, { cwd: stage.folder });
  const received = await stage.service.end();
  if (received.bookings !== bookings)
    throw new Error(`${kind}: the service received ${received.bookings} bookings, expected ${bookings}`);
  return { value: wallSeconds - received.seconds, cpuSeconds, peakMb };
}

function add({ value, cpuSeconds = 0, peakMb = 0 }: Measurement, exported: MeasuredProcess): Measurement {
  return {
    value: value + exported.wallSeconds,
    cpuSeconds: cpuSeconds + exported.cpuSeconds,
    peakMb: Math.max(peakMb, exported.peakMb),
  };
}

function show(count: number): string {
  return count.toLocaleString('en-GB');
}
