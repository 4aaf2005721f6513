import { blankNames } from '../../../src/booking/stored-line.js';
import { archiveRun } from '../../../src/review/file/archive-run.js';
import { awaitResult } from '../../../src/review/file/await-result.js';
import { type FileAttempt, type FileParts, spoolReviewFile } from '../../../src/review/file/file-attempt.js';
import { triggerReview, uploadReviewFile } from '../../../src/review/file/file-delivery.js';
import type { Run } from '../../../src/rules/run.js';
import type { Outcome } from '../../../src/rules/step.js';
import type { CallResult } from '../../../src/service/call-result.js';
import type { SftpSession } from '../../../src/transports/sftp/sftp.js';
import { claimStep, record, rightOf } from '../../contracts/ledger/days.js';
import { createOutside } from '../../crash/outside.js';
import { createSftpDouble } from '../../crash/sftp-double.js';
import { blocksOf } from '../../support/blocks.js';
import { ok } from '../scripted-service.js';
import { fileOf } from './file-bookings.js';
import { attemptOf, fileBookings, now, prepareFileRun, remote } from './file-run.js';

/** Of what the service is told. */
export const pathPrefix = 'acme/';
export const resultPath = `${remote.folder}/20112026_Result.csv`;

/** A result of five bookings, or of those given, that calls these incorrect. */
export function resultOf(incorrect: readonly number[], rows: readonly number[] = [0, 1, 2, 3, 4]): string {
  const [header = '', ...lines] = fileOf(fileBookings(5)).toString().trimEnd().split('\n');
  const judged = rows.map((row) => `${lines[row]},${!incorrect.includes(row)}`);
  return [`${header},IsCorrectMapping`, ...judged, ''].join('\n');
}

/** A run whose file is in the spool, and an SFTP server in memory. */
export async function writtenDay(...answers: readonly CallResult[]) {
  const prepared = await prepareFileRun();
  const { ledger } = prepared;
  const outside = createOutside(now);
  const server = createSftpDouble(outside);
  const session = await server.connect({ signal: new AbortController().signal });
  let changed: Partial<SftpSession> = {};
  const calls: { readonly path: string; readonly file: string }[] = [];
  const left = [...answers];
  let parts: FileParts = {
    ...prepared.parts,
    clock: outside.clock,
    pathPrefix,
    sftp: { connect: async () => ({ ...session, ...changed }) },
    service: {
      async reviewBookedHotelsByFile(path) {
        calls.push({ path, file: `${server.read(path.slice(pathPrefix.length))}` });
        return left.shift() ?? ok;
      },
    },
  };
  const { bytes, sha256 } = await spoolReviewFile(parts, prepared.run);
  let run: Run = await prepared.finish('write', { rows: 5, bytes, sha256 });
  const counts = new Map<string, number>();

  const perform = (step: string, act: (attempt: FileAttempt) => Promise<Outcome>) => async () => {
    const count = 1 + (counts.get(step) ?? 0);
    counts.set(step, count);
    const claim = await claimStep(ledger, run, step, count);
    const outcome = await act(attemptOf(parts, run, claim));
    ({ run } = await record(ledger, claim, outcome, now));
    return outcome;
  };
  return {
    ...{ server, session, calls, ledger, parts, archived: prepared.archived, ...outside },
    upload: perform('upload', uploadReviewFile),
    trigger: perform('trigger', triggerReview),
    look: perform('await-result', awaitResult),
    archive: perform('archive', archiveRun),
    loseSpool: async () => parts.spool.remove(await parts.spool.list()),
    run: () => run,
    async fail() {
      const failure = { class: 'data', code: 'result-unreadable', message: 'it cannot be read' } as const;
      await ledger.runs.settle(rightOf(run), { state: 'failed', failure, at: now });
    },
    async takeOver() {
      run = await ledger.runs.takeOver(run.id);
    },
    async blankNames() {
      await ledger.guests.blankNames('2027-01-01', blankNames);
      run = await ledger.runs.get(run.id);
    },
    /** The numbers of the bookings that are recorded as incorrect. */
    async affected() {
      const found = await ledger.bookings.listEverIncorrect(run.id);
      const incorrect = found.filter(({ judged }) => judged === 'incorrect');
      return incorrect.flatMap(({ batch, rows }) => rows.map((row) => 2 * batch + row));
    },
    set(settings: Partial<FileParts>) {
      parts = { ...parts, ...settings };
    },
    countPublished: () => outside.log.filter(({ kind }) => kind === 'published').length,
    pretend(changes: Partial<Run>) {
      run = { ...run, ...changes };
    },
    /** Lets sessions of the server do something else. */
    change(changes: Partial<SftpSession>) {
      changed = changes;
    },
    /** Removes the file from the server, and changes what there is of it in the spool. */
    async loseBoth(content: string) {
      await session.remove(remote.path);
      await parts.spool.write(`${run.id}.csv`, blocksOf(content));
    },
  };
}

/** The same once the file is on the server. */
export async function uploadedDay(...answers: readonly CallResult[]) {
  const day = await writtenDay(...answers);
  await day.upload();
  return day;
}

/** The same once its result was judged. */
export async function judgedDay(result = resultOf([1, 3]), ...answers: readonly CallResult[]) {
  const day = await uploadedDay(...answers);
  for (let call = 0; call <= answers.length; call += 1) await day.trigger();
  day.server.put(resultPath, result);
  await day.look();
  return day;
}
