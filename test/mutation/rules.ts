const transitions = ['run-transitions', 'step-transitions', 'step-outcomes', 'transitions'].map(
  (name) => `test/review/${name}.test.ts`,
);
const booking = ['normalise', 'instants', 'written-date', 'naughty-strings'].map(
  (name) => `test/booking/${name}.test.ts`,
);
const cases = ['test/cases/case-bookings.test.ts', 'test/cases/case-transitions.test.ts'];

/**
 * The files that hold rules, and the tests that hold these, quick ones first; none starts processes. Many more tests pass
 * through a rule; they would take hours, and hide that nobody has said what the rule is.
 */
export const rules: Readonly<Record<string, readonly string[]>> = {
  'src/review/state-machine.ts': transitions,
  'src/review/perform/settle.ts': ['settling', 'endpoints'].map(
    (name) => `test/review/perform/${name}.test.ts`,
  ),
  'src/review/file/explain-failure.ts': ['test/review/file/explain-failure.test.ts'],
  'src/review/file/judge-result.ts': ['judge-result', 'result-join'].map(
    (name) => `test/review/file/${name}.test.ts`,
  ),
  'src/review/gates.ts': ['test/review/collect/gates.test.ts'],
  'src/review/volume.ts': ['test/review/volume.test.ts'],
  'src/review/share.ts': ['test/review/share.test.ts'],
  'src/mapping-service/verdict.ts': ['test/mapping-service/verdict.test.ts'],
  'src/booking/normalise.ts': booking,
  'src/cases/case-transitions.ts': cases,
  'src/notifications/check-notices.ts': ['check-notices', 'problems-over-days'].map(
    (name) => `test/notifications/${name}.test.ts`,
  ),
  'src/notifications/run-notices.ts': ['test/notifications/run-notices.test.ts'],
  'src/notifications/routing.ts': ['test/notifications/routing.test.ts'],
  'src/notifications/deadlines.ts': ['test/notifications/deadlines.test.ts'],
  'src/booking/written-date.ts': ['written-date', 'instants'].map((name) => `test/booking/${name}.test.ts`),
};
