import { expect, it } from 'vitest';
import { listed } from '../../../jobs/command-list.js';
import { readCommandLine } from '../../../jobs/program.js';
import { findCall, pages, readBlocks, readLines, withoutBlocks } from './pages.js';

const documents = [...pages, 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
const names = Object.values(listed).flatMap((group) =>
  Object.keys(group).map((usage) => usage.split(' ')[0] ?? ''),
);

/** The calls in blocks for a shell, which are complete. */
const inBlocks = documents.flatMap((page) =>
  readBlocks(page).flatMap((block) =>
    readLines(block).flatMap((line) => {
      const call = findCall(line);
      return call === undefined ? [] : [{ place: block.place, call }];
    }),
  ),
);

/** Messages of others that begin like a command. */
const quoted = ['refused the user'];

/** The calls in sentences, with or without `hotel-review` before them, which may leave out what the command needs. */
const inSentences = [...documents, 'ops/prometheus/alerts.yml'].flatMap((page) =>
  [...withoutBlocks(page).matchAll(/`([^`]+)`/g)].flatMap(([, span = '']) => {
    const named = findCall(span);
    const call = (named ?? span).replaceAll(/\s+/g, ' ');
    const isCall = named !== undefined || (call.includes(' ') && names.includes(call.split(' ')[0] ?? ''));
    return isCall && !call.startsWith('…') && !quoted.includes(call) ? [{ place: page, call }] : [];
  }),
);

/** What stands for something else in the pages. */
const placeholders: readonly (readonly [RegExp, string])[] = [
  [/\$\(date -d yesterday \+%F\)/, 'yesterday'],
  [/\$day\b|\b(?:D|D2|DAY)(?=\s|$)/g, '2026-11-20'],
  [/\bcase ID\b/, 'case 17'],
  [/--port N\b/, '--port 8081'],
];

/** As a shell does. */
function splitWords(call: string): readonly string[] {
  const filled = placeholders.reduce((text, [placeholder, value]) => text.replace(placeholder, value), call);
  return [...filled.matchAll(/"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^\s"']+)/g)].map(
    ({ groups }) => groups?.double ?? groups?.single ?? groups?.bare ?? '',
  );
}

/** The words that a sentence left out, by what the command says of their absence. */
const left: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^required option '--role /, ['--role', 'viewer']],
  [/^required option '--email /, ['--email', 'ops@example.com']],
  [/^required option '--reason /, ['--reason', 'outage']],
  [/^required option '--out /, ['--out', 'FILE']],
  [/^option '--kind /, ['http']],
  [/resolve needs --as /, ['--as', 'rebooked']],
  [/^missing required argument |argument missing|resolve takes the references/, ['X']],
  [/needs a day: /, ['2026-11-20']],
  [/expected either a booking reference or /, ['BR-1042']],
];

async function findFault(words: readonly string[], mayLack: boolean): Promise<string | undefined> {
  try {
    await readCommandLine(words, '1.0.0', { writeOut: () => {}, writeErr: () => {} });
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    const lacking = mayLack ? left.find(([said]) => said.test(message)) : undefined;
    return lacking && words.length < 20 ? findFault([...words, ...lacking[1]], mayLack) : message;
  }
}

it.each([
  ['The commands in blocks can be given, with options that go together', inBlocks, false],
  ['The commands in sentences exist, and so do their options', inSentences, true],
] as const)('%s', async (_name, calls, mayLack) => {
  expect(calls.length).toBeGreaterThan(80);
  const faults = await Promise.all(
    calls.map(async ({ place, call }) => {
      const fault = await findFault(splitWords(call), mayLack);
      return fault === undefined ? [] : [`${place}: ${call}: ${fault}`];
    }),
  );
  expect(faults.flat()).toEqual([]);
});

it('A command that does not exist, or with an option that it lacks, is found', async () => {
  for (const call of ['runs D', 'run D --dryrun', 'guest erase --resaon TEXT', 'mappings', 'user invite ana'])
    expect(await findFault(splitWords(call), true), call).toBeDefined();
});
