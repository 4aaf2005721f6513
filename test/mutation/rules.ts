import { readdirSync, readFileSync } from 'node:fs';

const inFolder =
  (folder: string) =>
  (...names: string[]) =>
    names.map((name) => `test/${folder}/${name}.test.ts`);
const booking = inFolder('booking');
const notify = inFolder('notify');
const file = inFolder('review/file');

const list = (folder: string, end: string) => readdirSync(folder).filter((name) => name.endsWith(end));

/** Each is judged by the tests of all rules: many hold a rule together with those that it asks. */
const testsOfRules = list('test/rules', '.test.ts').map((name) => `test/rules/${name}`);
/** Files of the room that decide something; the others hold types. */
const files = list('src/rules', '.ts').filter((name) =>
  /^export (?:async )?function/m.test(readFileSync(`src/rules/${name}`, 'utf8')),
);

/**
 * The files that hold rules, and the tests that hold these; none starts processes. Many more tests pass through a rule; they would
 * take hours, and hide that nobody has said what the rule is.
 */
export const rules: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(files.map((name) => [`src/rules/${name}`, testsOfRules])),
  'src/rules/good-day.ts': [...testsOfRules, ...inFolder('review/day')('opening')],
  'src/rules/case-transitions.ts': [...testsOfRules, ...inFolder('cases')('case-bookings')],
  'src/booking/normalise.ts': booking('normalise', 'instants', 'written-date'),
  'src/booking/written-date.ts': booking('written-date', 'instants'),
  'src/service/verdict.ts': inFolder('service')('verdict'),
  'src/review/file/explain-failure.ts': file('explain-failure'),
  'src/review/file/judge-result.ts': file('judge-result'),
  'src/review/perform/settle.ts': [
    ...inFolder('review/perform')('settling', 'endpoints'),
    ...inFolder('review/outcome')('implausible'),
  ],
  'src/notify/check-notices.ts': notify('check-notices'),
  'src/notify/deadlines.ts': notify('deadlines'),
  'src/notify/routing.ts': notify('routing'),
};
