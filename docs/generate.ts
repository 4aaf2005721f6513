import { readFile, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { settingsSchema } from '../src/config/schema.js';
import { readCommands, renderCommandList } from './command-list.js';
import { renderCommandWords } from './command-words.js';
import { commonSettings } from './common-settings.js';
import { fillJsonSamples } from './json-samples.js';
import { renderJsonSchema } from './json-schema.js';

/**
 * Writes docs/configuration.md and schema/1.json from the schema, jobs/command-list.ts and jobs/command-words.json from the files of jobs/commands, and the
 * answers in docs/service.md from the faces: `npm run docs`. A test fails if one of them is out of date.
 */
interface Node {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly anyOf?: readonly Node[];
  /** The kinds of a group. */
  readonly oneOf?: readonly Node[];
  /** The items of a list. */
  readonly items?: Node;
}

const and = new Intl.ListFormat('en-GB', { type: 'conjunction' });
const or = new Intl.ListFormat('en-GB', { type: 'disjunction' });

const introduction = `# Configuration

The configuration is one YAML file, by default \`hotel-review.yaml\` in the current folder; \`--config FILE\` selects another, and
\`hotel-review init\` writes one. Relative paths are relative to that file. \`\${NAME}\` inside a text is replaced by the environment
variable of that name or, if there is none, by the variable in the file \`.env\` next to the configuration; \`\${file:PATH}\` is
replaced by the content of that file, without its last line end. For a literal \`\${\`, write \`$\${\`. Unknown settings are errors,
and all mistakes are reported at once. Where no form is named below, a setting is a text.

## The 25 settings that people set
`;

/** The reference, by area. */
const areas: Readonly<Record<string, readonly string[]>> = {
  'The account and the service': ['timezone', 'service', 'retry'],
  'The source': ['source'],
  'By body and by file': ['delivery', 'body', 'file'],
  'When a day fails': [
    'maxRejectedShare',
    'maxIncompleteShare',
    'maxRefusedShare',
    'maxUnansweredShare',
    'maxAffectedShare',
    'emptyDay',
    'volume',
  ],
  'Where things are kept': [
    'ledger',
    'queue',
    'archive',
    'keys',
    'guestNames',
    'hashKey',
    'guestNameDays',
    'recordDays',
  ],
  'When things happen': ['schedule', 'deadline', 'heartbeat', 'hook', 'workers'],
  'Who is told, and who looks': ['notify', 'server'],
  'Mappings and verdicts': ['mappings', 'export', 'verdicts', 'canary'],
};

export function renderConfigurationPage(): string {
  const schema = z.toJSONSchema(settingsSchema, { io: 'input', unrepresentable: 'any' }) as Node;
  const common = commonSettings.map(({ example, meaning }) => `- ${code(example)}<br>${meaning}`);
  const reference = Object.entries(areas).map(
    ([heading, names]) => `\n## ${heading}\n\n${listSettings(pick(schema, names), '').join('\n')}\n`,
  );
  return `${introduction}\n${common.join('\n')}\n${reference.join('')}`;
}

/** @throws RangeError for a setting that is in no area */
function pick({ properties = {}, ...group }: Node, names: readonly string[]): Node {
  const known = new Set(Object.values(areas).flat());
  const forgotten = Object.keys(properties).find((name) => !known.has(name));
  if (forgotten !== undefined) throw new RangeError(`the setting ${forgotten} is in no area of the page`);
  return {
    ...group,
    properties: Object.fromEntries(
      names.flatMap((name) => (properties[name] ? [[name, properties[name]]] : [])),
    ),
  };
}

function listSettings(group: Node, prefix: string): string[] {
  return Object.entries(group.properties ?? {}).flatMap(([name, written]) => {
    const path = `${prefix}${name}`;
    const node = joinKinds(written);
    if (node.properties) return [`- **\`${path}\`**: ${node.description}`, ...listSettings(node, `${path}.`)];
    const row = `- \`${path}\`${describeValue(node, group.required?.includes(name) ?? false)}: ${node.description}`;
    // A text that may also be a group.
    const inGroup = node.anyOf?.find(({ properties }) => properties !== undefined) ?? {};
    const ofItem = node.items ? joinKinds(node.items) : {};
    return [row, ...listSettings(inGroup, `${path}.`), ...listSettings(ofItem, `${path}[].`)];
  });
}

/** The kinds of a group as one group, which says which members only some of them have. */
function joinKinds(node: Node): Node {
  const { oneOf: kinds, ...group } = node;
  if (!kinds) return node;
  const names = new Set(kinds.flatMap(({ properties = {} }) => Object.keys(properties)));
  return {
    ...group,
    properties: Object.fromEntries(Array.from(names, (name) => [name, joinMembers(name, kinds)])),
    required: kinds.flatMap(({ required = [] }) => required),
  };
}

function joinMembers(name: string, kinds: readonly Node[]): Node {
  const owners = kinds.filter(({ properties }) => properties?.[name]);
  const [member = {}, ...others] = owners.flatMap(({ properties }) => properties?.[name] ?? []);
  if (owners.length < kinds.length) {
    const kindNames = owners.flatMap(({ properties }) => properties?.kind?.const ?? []).map(code);
    if (others.every(({ description }) => description === member.description))
      return { ...member, description: `${member.description} Only for ${and.format(kindNames)}.` };
    return describeByKind([member, ...others], kindNames);
  }
  if (member.const === undefined) return member;
  const { const: _, ...rest } = member;
  const choices = [member, ...others];
  return {
    ...rest,
    description: describeChoices(choices),
    enum: choices.flatMap((choice) => choice.const ?? []),
  };
}

/** A member that kinds describe differently, and that may have another default in each. */
function describeByKind(members: readonly Node[], kindNames: readonly string[]): Node {
  const { default: _, ...rest } = members[0] ?? {};
  const kindsOf = new Map<string, string[]>();
  for (const [index, { description, default: fallback }] of members.entries()) {
    const text = `${description}${fallback === undefined ? '' : ` By default ${code(fallback)}.`}`;
    kindsOf.set(text, [...(kindsOf.get(text) ?? []), kindNames[index] ?? '']);
  }
  const described = Array.from(kindsOf, ([text, names]) => `${and.format(names)}: ${text}`);
  return { ...rest, description: described.join(' ') };
}

/** The description that all kinds share, or that of each. */
function describeChoices(choices: readonly Node[]): string {
  const [shared = '', ...others] = new Set(choices.map(({ description = '' }) => description));
  if (others.length === 0) return shared;
  return choices.map((choice) => `${code(choice.const)}: ${choice.description}`).join(' ');
}

/** Its form where that is no text, nor plain from its default, and its default. */
function describeValue(node: Node, isRequired: boolean): string {
  const form = describeForm(node);
  const isPlain = form === 'text' || (!isEmpty(node.default) && ['number', 'list'].includes(form));
  const value = [
    ...(isPlain ? [] : [form]),
    ...(isRequired ? ['required'] : []),
    ...(isEmpty(node.default) ? [] : [`default ${code(node.default)}`]),
  ];
  return value.length === 0 ? '' : ` (${value.join(', ')})`;
}

function isEmpty(fallback: unknown): boolean {
  return ['undefined', '""', '[]', '{}'].includes(String(JSON.stringify(fallback)));
}

function describeForm(node: Node): string {
  if (node.const !== undefined) return code(node.const);
  if (node.enum) return or.format(node.enum.map(code));
  if (node.anyOf) return [...new Set(node.anyOf.map(describeForm))].join(' or ');
  switch (node.type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return 'list';
    case 'object':
      return 'group';
    case 'boolean':
      return '`true` or `false`';
    default:
      return 'text';
  }
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

if (process.argv[1] === import.meta.filename) {
  await writeFile(new URL('configuration.md', import.meta.url), renderConfigurationPage());
  await writeFile(new URL('../schema/1.json', import.meta.url), renderJsonSchema());
  const commands = await readCommands();
  await writeFile(new URL('../jobs/command-list.ts', import.meta.url), renderCommandList(commands));
  await writeFile(new URL('../jobs/command-words.json', import.meta.url), renderCommandWords(commands));
  const service = new URL('service.md', import.meta.url);
  await writeFile(service, fillJsonSamples(await readFile(service, 'utf8')));
}
