// What 0.1.0 knew and 1.0 no longer does, each with one sentence that says what to use instead. This file goes with 1.1.
import { isGroup } from '../settings/values.js';
import { formatPath, type Problem } from './problems.js';

interface RetiredSetting {
  /** `*` stands for each item of a list. */
  readonly path: readonly string[];
  /** Whether this value is retired; without it, all are. */
  readonly isRetired?: (value: unknown) => boolean;
  readonly instead: string;
}

const deadlineNames = /^(?:default|(?:mon|tues|wednes|thurs|fri|satur|sun)day)$/;

const retiredSettings: readonly RetiredSetting[] = [
  { path: ['source', 'pagination', 'behindLast'], instead: 'is called afterLastPage now' },
  {
    path: ['keys'],
    isRetired: isGroup,
    instead: 'is the path of the folder, such as ./keys: KMS no longer encrypts the master key',
  },
  {
    path: ['mappings', 'fillServiceId'],
    instead: 'no longer exists: let the source name the ServiceId of each booking',
  },
  {
    path: ['source', 'url'],
    isRetired: (url) => typeof url === 'string' && /^sqlite:/i.test(url),
    instead: 'SQLite is no longer read as a source: write a small bookings module (kind: module) instead',
  },
  {
    path: ['watch'],
    instead: 'remove it: nothing is sent again when a mapping moves; its stays are in the cases',
  },
  {
    path: ['notify', '*', 'quietHours'],
    instead: 'no longer exists: set minimum, the lowest severity that the channel gets',
  },
  {
    path: ['deadline'],
    isRetired: (deadline) =>
      isGroup(deadline) && Object.keys(deadline).some((name) => deadlineNames.test(name)),
    instead: 'has one time, at, for all days, and exceptions by date',
  },
  {
    path: ['guestNames'],
    isRetired: (value) => value === 'pseudonym',
    instead:
      "pseudonym no longer exists: set omit, which by file puts the booking's reference in the name's column",
  },
];

/** The retired settings that a configuration still has. */
export function findRetiredSettings(tree: unknown): Problem[] {
  return retiredSettings.flatMap(({ path, isRetired = () => true, instead }) =>
    listValues(tree, path)
      .filter(({ value }) => isRetired(value))
      .map((found) => ({ path: formatPath(found.path), message: instead })),
  );
}

interface Place {
  readonly path: readonly PropertyKey[];
  readonly value: unknown;
}

function listValues(tree: unknown, path: readonly string[]): readonly Place[] {
  return path.reduce<readonly Place[]>(
    (places, name) =>
      places.flatMap(({ path: before, value }) => {
        if (name === '*' && Array.isArray(value))
          return value.map((item, index) => ({ path: [...before, index], value: item }));
        return isGroup(value) && Object.hasOwn(value, name)
          ? [{ path: [...before, name], value: value[name] }]
          : [];
      }),
    [{ path: [], value: tree }],
  );
}

interface RetiredCommand {
  /** The command, and an option of it if only that is retired. `RUN` stands for the id of a run. */
  readonly words: string;
  readonly instead: string;
}

const runId = /^\d{8}-[a-z\d]{8}$/;

const retiredCommands: readonly RetiredCommand[] = [
  {
    words: 'sandbox --changes-per-hour',
    instead: 'the sandbox does not change while it runs; start it again with `--changes N`',
  },
  {
    words: 'sandbox --wrong-mappings',
    instead: 'use `sandbox bookings --wrong-share`, or `sandbox --changes` for mappings that move',
  },
  { words: 'sandbox --world', instead: 'there is one world; `sandbox bookings --seed` makes other bookings' },
  { words: 'sandbox bookings --folder', instead: 'leave it out, since every sandbox has the same world' },
  { words: 'watch', instead: '`mappings sync` examines the moves against stays ahead and opens their cases' },
  {
    words: 'guest export --name',
    instead: 'list the references with `show --name NAME`, then `guest export REF`',
  },
  {
    words: 'guest erase --name',
    instead: 'list the references with `show --name NAME`, then `guest erase REF --reason TEXT`',
  },
  { words: 'report --markdown', instead: 'use the text, or the page that `report D --html FILE` writes' },
  {
    words: 'affected --sort',
    instead:
      'guests in house come first, then the nearest check-in; `--csv FILE` writes your own columns to a file that you can sort',
  },
  {
    words: 'cases --sort',
    instead:
      'guests in house come first, then the nearest check-in; `--csv FILE` writes your own columns to a file that you can sort',
  },
  {
    words: 'case --sort',
    instead: 'open bookings come first: of guests in house, then with the nearest check-in',
  },
  {
    words: 'suspects --sort',
    instead: '`--csv FILE` writes your own columns to a file that you can sort',
  },
  { words: 'cancel RUN', instead: 'name the day, whose unfinished run `cancel D --reason TEXT` abandons' },
];

/** The sentence about a retired command or option on a command line that could not be understood. */
export function explainRetiredCommand(words: readonly string[]): string | undefined {
  const found = retiredCommands.find(({ words: retired }) =>
    retired
      .split(' ')
      .every((word, place) =>
        word.startsWith('-')
          ? words.some((given) => given === word || given.startsWith(`${word}=`))
          : word === 'RUN'
            ? words.some((given) => runId.test(given))
            : words[place] === word,
      ),
  );
  return found && `\`${found.words}\` no longer exists: ${found.instead}`;
}
