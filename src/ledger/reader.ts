import type { ReadOnlyNoticeLedger } from '../notifications/notice-store.js';
import type { BookingForm } from '../review/step.js';
import { createActionRecorder } from './audit-trail.js';
import { measureBatches, readBatch, readBatches, sampleBatches } from './batches.js';
import { createCanaryReader } from './canaries.js';
import { createCaseReader } from './cases.js';
import { markDays } from './day-marks.js';
import { createErasureReader } from './erasing.js';
import { createExportReader } from './export-log.js';
import { nextJudged, nextSuspects } from './findings.js';
import { createHotelReader } from './hotel-contents.js';
import { findKeptValues, readKeptColumns } from './kept-columns.js';
import { describeKept } from './kept-data.js';
import { createMappingReader } from './mapping-copy.js';
import { createNoticeReader } from './notice-store.js';
import { createProgressReader } from './progress.js';
import type { Store } from './query.js';
import {
  findRun,
  findVolume,
  getRun,
  latestRun,
  listActiveRuns,
  listLatestRuns,
  listReviewedDays,
  listRuns,
  listRunsOfDays,
  listVolumes,
  runNumber,
  summarise,
} from './runs.js';
import { tally } from './step-totals.js';
import { findWait, isBeingPerformed, listOpenSteps, listUndelivered } from './steps.js';
import {
  countRejects,
  countWarnings,
  listAnswers,
  listAttempts,
  listRefused,
  listRejects,
  listStepTimes,
  trace,
} from './tracing.js';
import { createMailReader } from './verdict-mails.js';

/** Whether a stored line has that booking reference. */
export type CarriesReference = (line: string, form: BookingForm, reference: string) => boolean;

/** All queries of a ledger, and the record of who asked, for either database. */
export function createReader(
  store: Store,
  carriesReference: CarriesReference,
): Omit<ReadOnlyNoticeLedger, 'ping' | 'close'> {
  const { dialect, read, readTogether } = store;
  return {
    mappings: createMappingReader(store),
    hotels: createHotelReader(store),
    exports: createExportReader(store),
    audit: createActionRecorder(store),
    cases: createCaseReader(store),
    verdictMails: createMailReader(store),
    notices: createNoticeReader(store),
    ...createErasureReader(store),
    ...createCanaryReader(store),
    ...createProgressReader(store),
    listVolumes: (days) => read(() => listVolumes(dialect, days)),
    findVolume: (day) => read(() => findVolume(dialect, day)),
    latestRun: (day) => read(() => latestRun(dialect, day)),
    findRun: (runId) => read(() => findRun(dialect, runId)),
    getRun: (runId) => read(() => getRun(dialect, runId)),
    listRuns: (options) => read(() => listRuns(dialect, options)),
    listLatestRuns: (range) => read(() => listLatestRuns(dialect, range)),
    listRunsOfDays: (range) => read(() => listRunsOfDays(dialect, range)),
    markDays: (range) => read(() => markDays(dialect, range)),
    listReviewedDays: (range) => read(() => listReviewedDays(dialect, range)),
    listActiveRuns: () => read(() => listActiveRuns(dialect)),
    summarise: (today) => read(() => summarise(dialect, today)),
    listOpenSteps: (runId, page) => read(() => listOpenSteps(dialect, runId, page)),
    listUndelivered: (runId) => read(() => listUndelivered(dialect, runId)),
    findWait: (runId, now) => read(() => findWait(dialect, runId, now)),
    isBeingPerformed: (runId) => read(() => isBeingPerformed(dialect, runId)),
    readBatch: (runId, form, batch) => read(() => readBatch(dialect, runId, form, batch)),
    readBatches: (runId, form, range) => read(() => readBatches(dialect, runId, form, range)),
    measureBatches: (runId, form) => read(() => measureBatches(dialect, runId, form)),
    sampleBatches: (runId) => read(() => sampleBatches(dialect, runId)),
    nextDelivered: (runId, after) =>
      readTogether(function* () {
        return yield* dialect.nextDelivered(yield* runNumber(dialect, runId), after);
      }),
    nextJudged: (runId, judged, after = -1) => readTogether(() => nextJudged(dialect, runId, judged, after)),
    nextSuspects: (runId, after) => readTogether(() => nextSuspects(dialect, runId, after)),
    readKeptColumns: (runId, form, batch) => readTogether(() => readKeptColumns(dialect, runId, form, batch)),
    findKeptValues: (references) => findKeptValues(store, references),
    describeKept: () => read(() => describeKept(dialect)),
    tally: (runId) => read(() => tally(dialect, runId)),
    countRejects: (runId) => read(() => countRejects(dialect, runId)),
    listRejects: (runId, limit, some) => read(() => listRejects(dialect, runId, limit, some)),
    countWarnings: (runId) => read(() => countWarnings(dialect, runId)),
    listRefused: (runId, limit, skip = 0) => readTogether(() => listRefused(dialect, runId, limit, skip)),
    listAnswers: (runId, steps) => read(() => listAnswers(dialect, runId, steps)),
    trace: (reference) =>
      readTogether(() => trace(dialect, reference, (line, form) => carriesReference(line, form, reference))),
    listStepTimes: (runId) => read(() => listStepTimes(dialect, runId)),
    listAttempts: (runId, step) => read(() => listAttempts(dialect, runId, step)),
  };
}
