const inFolder =
  (folder: string) =>
  (...names: string[]) =>
    names.map((name) => `test/${folder}/${name}.test.ts`);
const booking = inFolder('booking');
const review = inFolder('review');
const collect = inFolder('review/collect');
const day = inFolder('review/day');
const file = inFolder('review/file');
const outcome = inFolder('review/outcome');
const stored = inFolder('review/stored');
const text = inFolder('text');
const notifications = inFolder('notifications');
const mails = inFolder('verdict-mails');

const transitions = review('run-transitions', 'step-transitions', 'transitions');
const normalised = booking('normalise', 'instants', 'written-date');
const cases = inFolder('cases')('case-bookings', 'case-transitions');
/** The contracts that every ledger passes, on SQLite: slow, so only what the ledger itself decides is left to them. */
const ledger = inFolder('ledger')('sqlite');
const caseUpdates = inFolder('ledger')('sqlite-mappings');

/**
 * The files that hold rules, and the tests that hold these, quick ones first; none starts processes. Many more tests pass
 * through a rule; they would take hours, and hide that nobody has said what the rule is. The claims of PostgreSQL need a server,
 * so nothing here can judge them.
 */
export const rules: Readonly<Record<string, readonly string[]>> = {
  'src/booking/normalise.ts': normalised,
  'src/booking/stay.ts': booking('stay'),
  'src/booking/written-date.ts': booking('written-date', 'instants'),

  'src/service/verdict.ts': inFolder('mapping-service')('verdict'),

  'src/ledger/guests.ts': [...stored('retention'), ...inFolder('ledger')('retention'), ...ledger],
  'src/ledger/run-changes.ts': ledger,
  'src/ledger/sqlite/sqlite-ledger.ts': ledger,
  'src/ledger/stays.ts': ledger,
  'src/ledger/steps.ts': [...transitions, ...ledger],

  'src/rules/state-machine.ts': transitions,
  'src/rules/file-chain.ts': [...review('file-chain'), ...transitions],
  'src/rules/gates.ts': collect('gates'),
  'src/rules/share.ts': review('share'),
  'src/rules/try-again.ts': review('try-again'),
  'src/rules/volume.ts': review('volume'),
  'src/review/collect/repeated-day.ts': collect('repeated-day'),
  'src/rules/day-outcome.ts': outcome('day-outcome'),
  'src/rules/describe-day.ts': day('describe-day'),
  'src/rules/good-day.ts': day('good-day', 'opening'),
  'src/review/day/join-run.ts': day('join-run', 'run-day'),
  'src/review/file/archive-run.ts': file('archive-run', 'verify'),
  'src/review/file/await-result.ts': file('steps-on-the-server', 'archive-run', 'unusable-names'),
  'src/base/csv.ts': [...text('csv-cutter'), ...inFolder('sources/csv')('unclosed-quote')],
  'src/base/csv-cells.ts': [...text('csv-cutter'), ...file('result')],
  'src/review/file/explain-failure.ts': file('explain-failure'),
  'src/review/file/judge-result.ts': file('judge-result'),
  'src/review/file/late-result.ts': file('late-result'),
  'src/review/file/join-result.ts': file('result-echo', 'result-join'),
  'src/review/file/echo-result.ts': file('result-echo'),
  'src/review/file/result.ts': file('result', 'result-join'),
  'src/review/file/result-lines.ts': file('result'),
  'src/review/file/verdict-state.ts': file('verdict-state', 'judge-result', 'steps-on-the-server'),
  'src/review/outcome/read-outcome.ts': outcome('day-outcome'),
  'src/review/outcome/count-bookings.ts': outcome('count-bookings'),
  'src/review/perform/settle.ts': [
    ...inFolder('review/perform')('settling', 'endpoints'),
    ...outcome('implausible'),
  ],
  'src/review/stays/stays-ahead.ts': [...collect('late'), ...ledger],
  'src/review/stored/retention.ts': stored('retention'),
  'src/review/stored/stored-line.ts': stored('stored-line'),

  'src/rules/case-transitions.ts': cases,
  'src/cases/follow-mappings.ts': [...inFolder('cases')('classify-move'), ...caseUpdates],
  'src/cases/case-bookings.ts': caseUpdates,
  'src/cases/open-cases.ts': [...cases, ...caseUpdates],
  'src/cases/update-cases.ts': caseUpdates,
  'src/cases/mails/examine-mail.ts': mails('read-mail', 'take-mail'),
  'src/cases/mails/recognise-mail.ts': mails('take-mail'),
  'src/cases/mails/take-mail.ts': mails('take-mail'),

  'src/schedule/due-days.ts': inFolder('schedule')('due-days', 'late-source'),

  'src/notify/check-notices.ts': notifications('check-notices', 'urgent-cases'),
  'src/notify/deadlines.ts': notifications('deadlines'),
  'src/notify/routing.ts': notifications('routing'),
  'src/rules/run-notices.ts': notifications('run-notices'),
};
