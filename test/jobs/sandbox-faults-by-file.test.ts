import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { isNightly } from '../support/nightly.js';
import { listAffected, prepareSandboxDay, type SandboxDay, type SandboxDayOptions } from './sandbox-day.js';

async function run(options: SandboxDayOptions) {
  const prepared = await prepareSandboxDay({
    ...options,
    settings: { delivery: 'file', ...options.settings },
  });
  return { ...prepared, ...(await runOnce(prepared)) };
}

async function runOnce({ folder }: SandboxDay) {
  const { exitCode, report } = await folder.runDay();
  return { exitCode, report, file: report.file as FileReport | null };
}

interface FileReport {
  readonly rows: number;
  readonly archivedTo: string | null;
}

/** The archived result's records. */
async function readResult(file: FileReport | null): Promise<readonly Record<string, string>[]> {
  const bytes = await readFile(join(file?.archivedTo ?? '', '20112026_Result.csv'));
  return parse(bytes, { columns: true });
}

const wrongInFile = ({ counts }: SandboxDay) => counts.wrongMappings - counts.wrongUnfitForFile;
const byFileCalls = ({ events }: SandboxDay) =>
  events.filter(
    (event) =>
      event.part === 'service' &&
      (event.kind === 'answered' || event.kind === 'unanswered') &&
      event.operation === 'by-file',
  ).length;

it('A day by file fetches its result, and its affected bookings are exactly the made-up wrong mappings', async () => {
  const made = await run({});
  expect(made.exitCode).toBe(0);
  expect(made.report.counts).toMatchObject({ delivered: made.counts.bookings, affected: wrongInFile(made) });
  const affected = await listAffected(made);
  expect(affected).toHaveLength(wrongInFile(made));
  expect(made.counts.wrongReferences.filter((reference) => affected.includes(reference))).not.toEqual([]);
  const email = made.events.find((event) => event.part === 'file-review' && event.kind === 'result-written');
  expect(email).toMatchObject({ incorrect: wrongInFile(made), rows: made.file?.rows });
});

describe('a result', () => {
  it('result-late:3@1: leaves the run waiting, and the next run fetches it', async () => {
    const made = await run({
      faults: ['result-late:3@1'],
      settings: { file: { resultTimeoutMinutes: 0.01 } },
    });
    expect({ exitCode: made.exitCode, state: made.report.state }).toEqual({
      exitCode: 3,
      state: 'awaiting-result',
    });
    await made.folder.configure({ file: { resultTimeoutMinutes: 1 } });
    const { exitCode, report } = await runOnce(made);
    expect({ exitCode, affected: report.counts.affected }).toEqual({
      exitCode: 0,
      affected: wrongInFile(made),
    });
    expect(byFileCalls(made)).toBe(1);
  });

  it('result-growing:2@1: is awaited until it is complete', async () => {
    const made = await run({
      faults: ['result-growing:2@1'],
      settings: { file: { resultQuietSeconds: 3 } },
    });
    expect(made.exitCode).toBe(0);
    expect(await readResult(made.file)).toHaveLength(made.file?.rows ?? 0);
    expect(made.report.counts.affected).toBe(wrongInFile(made));
  });

  it('result-partial@1: fails the run when it is due, and the bookings that it does not name have no verdict', async () => {
    const made = await run({
      faults: ['result-partial@1'],
      settings: { file: { resultTimeoutMinutes: 0.02 } },
    });
    const rows = made.file?.rows ?? 0;
    const unanswered = rows - Math.floor(rows / 2);
    expect({ exitCode: made.exitCode, state: made.report.state }).toEqual({ exitCode: 1, state: 'failed' });
    expect(made.report.error).toMatchObject({ class: 'data' });
    expect(made.report.counts).toMatchObject({ delivered: made.counts.bookings, unanswered });
    expect(await listAffected(made)).toHaveLength(made.report.counts.affected ?? 0);
    const { stdout } = await made.folder.run(['status', day]);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`unanswered ${unanswered}`);
  });

  it('result-twice:1@1: is judged once, and what was judged is archived', async () => {
    const made = await run({ faults: ['result-twice:1@1'] });
    expect(made.exitCode).toBe(0);
    expect(made.report.counts).toMatchObject({ affected: wrongInFile(made), unanswered: 0 });
    expect(await readResult(made.file)).toHaveLength(made.file?.rows ?? 0);
  });

  it('result-worded@1: fails the run, which names the column; it is read once that is set', async () => {
    const made = await run({ faults: ['result-worded@1'] });
    expect({ exitCode: made.exitCode, unanswered: made.report.counts.unanswered }).toEqual({
      exitCode: 1,
      unanswered: made.file?.rows,
    });
    expect(made.report.error?.message).toContain('MappingStatus');
    await made.folder.configure({ file: { resultColumn: 'MappingStatus' } });
    const { exitCode, report } = await runOnce(made);
    expect({ exitCode, affected: report.counts.affected }).toEqual({
      exitCode: 0,
      affected: wrongInFile(made),
    });
  });

  it('result-missing@1: leaves the run waiting with everything delivered', async () => {
    const made = await run({
      faults: ['result-missing@1'],
      settings: { file: { resultTimeoutMinutes: 0.01 } },
    });
    expect({ exitCode: made.exitCode, state: made.report.state }).toEqual({
      exitCode: 3,
      state: 'awaiting-result',
    });
    expect(made.report.counts).toMatchObject({ delivered: made.counts.bookings, pending: 0, affected: null });
    expect((await runOnce(made)).exitCode).toBe(3);
  });
});

/** Outside the nightly suite, one fault of each kind: `file-calls.servers.test.ts` covers every answer. */
describe('the by-file call', () => {
  /** Nothing is posted, so that only by-file calls are numbered. */
  const fileAlone = { file: { incomplete: 'reject' }, maxRejectedShare: 0.5 };

  it.each(isNightly ? ['drop@1-3', 'hang@1-3', 'page@1-3', 'status:503@1-3'] : ['drop@1-3'])(
    '%s: is repeated until it is accepted',
    async (fault) => {
      const made = await run({
        faults: [fault],
        settings: { ...fileAlone, service: { timeoutSeconds: 1 } },
      });
      expect({ exitCode: made.exitCode, calls: byFileCalls(made) }).toEqual({ exitCode: 0, calls: 4 });
      expect(made.report.counts).toMatchObject({ pending: 0, affected: wrongInFile(made) });
    },
  );

  it.each(isNightly ? ['lost-answer@1-', 'latency:5@1-'] : ['lost-answer@1-'])(
    '%s: is not repeated when its result has arrived',
    async (fault) => {
      const made = await run({ faults: [fault], settings: { ...fileAlone, service: { timeoutSeconds: 1 } } });
      expect({ exitCode: made.exitCode, calls: byFileCalls(made) }).toEqual({ exitCode: 0, calls: 1 });
      expect(made.report.counts).toMatchObject({ pending: 0, affected: wrongInFile(made) });
    },
  );

  it.each(isNightly ? ['refuse:2020@1', 'status:404@1', 'status:403@1'] : ['refuse:2020@1'])(
    '%s: fails the run, and the next run resumes it',
    async (fault) => {
      const made = await run({ faults: [fault], settings: fileAlone });
      expect({ exitCode: made.exitCode, state: made.report.state }).toEqual({ exitCode: 1, state: 'failed' });
      const { exitCode, report } = await runOnce(made);
      expect({ exitCode, affected: report.counts.affected }).toEqual({
        exitCode: 0,
        affected: wrongInFile(made),
      });
      expect(byFileCalls(made)).toBe(2);
    },
  );
});
