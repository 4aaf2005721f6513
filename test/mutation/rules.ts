import { existsSync, readdirSync, readFileSync } from 'node:fs';

const inFolder =
  (folder: string) =>
  (...names: string[]) =>
    names.map((name) => `test/${folder}/${name}.test.ts`);
const ofRules = inFolder('rules');
const booking = inFolder('booking');
const notify = inFolder('notify');
const file = inFolder('review/file');

/** Files of the room that decide something; the others hold types. */
const names = readdirSync('src/rules')
  .filter((name) => /^export (?:async )?function/m.test(readFileSync(`src/rules/${name}`, 'utf8')))
  .map((name) => name.replace(/\.ts$/, ''));

/** The tests of other rules that hold this one, too. */
const alsoBy: Readonly<Record<string, readonly string[]>> = {
  'case-transitions': inFolder('cases')('case-bookings'),
  'file-chain': ofRules('step-transitions'),
  share: ofRules('volume'),
  'state-machine': ofRules('run-transitions', 'step-transitions', 'transitions'),
};

/**
 * The files that hold rules, and the tests that hold these: pure, and in memory. A rule is judged by the test that has its name: many
 * more pass through it; they would take hours, and hide that nobody has said what the rule is.
 */
export const rules: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    names.map((name) => [
      `src/rules/${name}.ts`,
      [...ofRules(name).filter(existsSync), ...(alsoBy[name] ?? [])],
    ]),
  ),
  'src/booking/normalise.ts': booking('normalise', 'instants', 'written-date'),
  'src/booking/written-date.ts': booking('instants', 'written-date'),
  'src/service/call-result.ts': inFolder('service')('call-result'),
  'src/review/file/explain-failure.ts': file('explain-failure'),
  'src/review/file/judge-result.ts': file('judge-result'),
  'src/review/perform/settle.ts': [
    ...inFolder('review/perform')('settling'),
    ...inFolder('review/outcome')('implausible'),
  ],
  'src/notify/check-notices.ts': notify('check-notices'),
  'src/notify/deadlines.ts': notify('deadlines'),
  'src/notify/routing.ts': notify('routing'),
};
