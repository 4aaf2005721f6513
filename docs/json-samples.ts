import { readFileSync } from 'node:fs';

/** The command lines of test/faces whose recorded answers docs/service.md shows. */
const shown: readonly (readonly [file: string, words: string])[] = [
  ['run', 'run 2026-11-19'],
  ['replay', 'replay 2026-11-15 --to 2026-11-22 --missing --dry-run'],
  ['status', 'status 2026-11-19'],
  ['show', 'show BR-261024-2'],
  ['affected', 'affected --from 2026-11-01 --to 2026-11-22'],
  ['suspects', 'suspects 2026-11-19'],
  ['refused', 'refused 2026-11-19'],
  ['posted', 'posted 2026-11-19'],
  ['rejected', 'rejected 2026-11-19'],
  ['cases', 'cases'],
  ['case', 'case 1'],
  ['verify', 'verify 2026-11-19'],
  ['providers', 'providers'],
  ['mappings', 'mappings show NorthStar 00011522'],
  ['mappings', 'mappings stats'],
  ['mappings', 'mappings sync'],
  ['brands', 'brands'],
  ['export', 'export request --email ops@agency.example'],
  ['verdicts', 'verdicts list'],
  ['notify', 'notify test'],
  ['doctor', 'doctor --day 2026-11-19'],
  ['audit', 'audit --from 2026-11-20'],
  ['privacy', 'privacy'],
  ['user', 'user list'],
  ['guest', 'guest export BR-261024-2'],
  ['guest', 'guest purge --dry-run'],
  ['guest', 'guest erase BR-261024-2 --reason the guest asked'],
];

/** What the recordings have instead of what differs each time. */
const differing: readonly (readonly [RegExp, string])[] = [
  [/"DURATION"/g, '4210'],
  [/: INSTANT\b/g, ': "2026-11-20T02:30:04Z"'],
  [/: SIZE\b/g, ': 4096'],
  [/\bSIZE\b/g, '80 GB'],
  [/\bUUID\b/g, '0b1f6c3e-8d5a-4f0e-9a57-6c1d2e3f4a5b'],
  [/\bFOLDER\b/g, '/srv/review'],
  [/\bhttp:\/\/SERVICE\b/g, 'https://service.example.com'],
];

const block = /(<!-- Written by `npm run docs` -->\n```text\n)[\s\S]*?(?=```)/;

/** The page with one answer in JSON of each command, of lists the first item only. */
export function fillJsonSamples(page: string): string {
  if (!block.test(page)) throw new RangeError('docs/service.md has no place for the answers in JSON');
  const samples = shown.map(([file, words]) => `${words}\n${wrap(readAnswer(file, words))}\n`);
  return page.replace(block, (_, head) => head + samples.join('\n'));
}

function readAnswer(file: string, words: string): string {
  const recorded = readFileSync(
    new URL(`../test/faces/recorded/commands/${file}.txt`, import.meta.url),
    'utf8',
  );
  const [, after] = recorded.split(`$ hotel-review ${words} --json\n`);
  const answer = after?.split(/^--- /m)[0];
  if (answer === undefined) throw new RangeError(`test/faces/recorded/commands/${file}.txt lacks ${words}`);
  const filled = differing.reduce((text, [found, instead]) => text.replace(found, instead), answer);
  return JSON.stringify(shorten(JSON.parse(filled)));
}

function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) =>
    name.endsWith('Hotel') ? [name, nameHotel(member)] : [name, shorten(member)],
  );
  return Object.fromEntries(members);
}

const nameHotel = ({ serviceId, name }: { readonly serviceId: number; readonly name: string }) => ({
  serviceId,
  name,
});

const width = 120;

/** Breaks a text after commas, so that it is still JSON. */
function wrap(text: string): string {
  const members = text.match(/(?:"(?:[^"\\]|\\.)*"|[^",])+,?/g) ?? [];
  const lines = [''];
  for (const member of members) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + member.length > width) lines.push(member);
    else lines[lines.length - 1] = last + member;
  }
  return lines.join('\n');
}
