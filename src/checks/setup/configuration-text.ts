import { isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { wrapText } from '../../base/format.js';
import { placeholder } from '../../base/setting-placeholders.js';
import { listForms, listSettingNames, readSettingFacts } from '../../config/outline.js';
import type { SourceKindName } from '../../sources/registry.js';
import { writeYaml } from '../examination/write-yaml.js';

/** What is written of a setting besides its description. */
export interface Written {
  /** Its value as YAML, a group indented on the lines below. Without one, its default is shown, commented out. */
  readonly yaml?: string;
  /** Further comments, a line each. `PLACEHOLDER: …` says what is to be filled in. */
  readonly note?: string;
}

export interface SourceText {
  readonly kind: SourceKindName;
  readonly settings: Readonly<Record<string, Written>>;
  /** Its secrets, each with what stands in `.env` until somebody puts it in. */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface ConfigurationContent {
  readonly timezone: Written;
  readonly delivery: 'body' | 'file';
  /** What is to be said about `file.incomplete`. */
  readonly incomplete?: Written;
  readonly source: SourceText;
  /** Where editors find the JSON Schema: a path relative to the configuration, or a URL. */
  readonly schema: string;
}

const fromVariable = (name: string): Written => ({ yaml: `"\${${name}}"` });

/** The text of a configuration, valid as it is. Descriptions and defaults come from the schema. */
export function renderConfiguration(content: ConfigurationContent): string {
  const { timezone, delivery, source, schema } = content;
  return `# yaml-language-server: $schema=${schema}
# Settings that are commented out show their defaults. Relative paths are
# relative to this file. \${NAME} is replaced by a variable from the environment
# or from the file .env beside this one. Fill in whatever is marked as
# PLACEHOLDER, then run \`hotel-review doctor\` to check everything.

${setting(['timezone'], timezone)}

service:
${setting(['service', 'baseUrl'], { yaml: placeholder.baseUrl, note: "PLACEHOLDER: put in the service's address." })}
${setting(['service', 'apiKey'], fromVariable('HOTEL_REVIEW_API_KEY'))}
${setting(['service', 'accountId'], fromVariable('HOTEL_REVIEW_ACCOUNT_ID'))}
${setting(['service', 'masterIdName'])}
${setting(['service', 'masterIdColumn'])}

source:
${listSettingNames(['source'], source.kind)
  .map((name) =>
    setting(
      ['source', name],
      { ...(name === 'kind' && { yaml: source.kind }), ...source.settings[name] },
      source.kind,
    ),
  )
  .join('\n')}

${setting(['delivery'], { yaml: delivery })}
${delivery === 'file' ? renderFile(content) : ''}
${setting(['deadline'], { yaml: '"06:00"' })}

# Nobody is told how the nights go until there is a channel: email, slack,
# teams, pagerduty or webhook. \`night\` stands for the events that say whether
# they go well.
# notify:
#   - kind: email
#     smtp: smtps://USER:PASSWORD@smtp.example.com
#     from: review@example.com
#     to: [ops@example.com]
#     on: [night]

${setting(['hashKey'], fromVariable('HOTEL_REVIEW_HASH_KEY'))}

hook:
${setting(['hook', 'secret'], fromVariable('HOTEL_REVIEW_HOOK_SECRET'))}

# Half an export looks like a quiet day until earlier days are known. To notice
# it from the first night on, say how many bookings are always too few.
# volume: { minimum: 100 }

${['maxRejectedShare', 'emptyDay', 'ledger', 'archive', 'keys', 'guestNameDays', 'recordDays']
  .map((name) => setting([name]))
  .join('\n')}
`;
}

function renderFile({ incomplete }: ConfigurationContent): string {
  return `
file:
  sftp:
${setting(['file', 'sftp', 'host'], { yaml: placeholder.host, note: "PLACEHOLDER: put in the server's name." })}
${setting(['file', 'sftp', 'port'])}
${renderAccount(['file', 'sftp'], 'HOTEL_REVIEW_SFTP_PASSWORD')}
${setting(['file', 'sftp', 'root'])}
${setting(['file', 'incomplete'], incomplete)}
`;
}

/** An account on an SFTP server, to be filled in. */
function renderAccount(path: readonly string[], variable: string): string {
  const hostKey =
    "PLACEHOLDER: put in what `hotel-review doctor` shows, once the server's operator has confirmed it.";
  return `${setting([...path, 'username'], { yaml: placeholder.word, note: 'PLACEHOLDER: put in your user name there.' })}
${setting([...path, 'password'], fromVariable(variable))}
${setting([...path, 'privateKeyFile'])}
${setting([...path, 'hostKey'], { yaml: placeholder.hostKey, note: hostKey })}`;
}

/** The secrets of a configuration, each with its value in `.env` or a placeholder. */
export function listSecrets(
  { delivery, source }: ConfigurationContent,
  generated: { readonly hashKey: string; readonly hookSecret: string },
): Readonly<Record<string, string>> {
  return {
    HOTEL_REVIEW_API_KEY: placeholder.word,
    HOTEL_REVIEW_ACCOUNT_ID: placeholder.word,
    ...(delivery === 'file' && { HOTEL_REVIEW_SFTP_PASSWORD: placeholder.word }),
    ...source.secrets,
    HOTEL_REVIEW_HASH_KEY: generated.hashKey,
    HOTEL_REVIEW_HOOK_SECRET: generated.hookSecret,
  };
}

/** The text of `.env`, which a shell can read, too. None of its values has a quote. */
export function renderDotEnv(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(
    ([variable, value]) => `${variable}=${/[^\w./:@%+=-]/.test(value) ? `'${value}'` : value}\n`,
  );
  return `# Secrets: keep this file out of version control. Variables of the environment take precedence.\n${lines.join('')}`;
}

/** A setting below its description. */
function setting(path: readonly string[], { yaml, note = '' }: Written = {}, kind?: string): string {
  const indent = '  '.repeat(path.length - 1);
  const { description, fallback = '…' } = readSettingFacts(path, kind);
  const forms = new Set(kind === undefined || yaml !== undefined ? [] : listForms(path).map(writeForm));
  const shown = forms.size === 0 ? '' : `Written as ${[...forms].join(' or ')}`;
  const comments = [description, shown, ...note.split('\n')].flatMap((line) =>
    wrapText(toComment(line), indent.length + 2),
  );
  const value = yaml ?? writeYaml(fallback);
  const line = `${path.at(-1)}:${value.startsWith('\n') ? '' : ' '}${value}`;
  return [
    ...comments.map((comment) => `${indent}# ${comment.trimStart()}`),
    `${indent}${yaml === undefined ? '# ' : ''}${line}`,
  ].join('\n');
}

function writeForm(members: ReturnType<typeof listForms>[number]): string {
  return `{ ${members.map(([name, fallback = '…']) => `${name}: ${writeYaml(fallback)}`).join(', ')} }`;
}

/** What ends a line would end the comment. */
function toComment(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, '\uFFFD');
}

/** The settings that a text marks as to be filled in. */
export function listPlaceholders(text: string): readonly string[] {
  return [...text.matchAll(/^ *# PLACEHOLDER:.*\n(?: *# .*\n)*? *(?:# )?(\w+):/gm)].map(
    ([, name = '']) => name,
  );
}

/** How a configuration in that folder refers to a file of this package. The line of the JSON Schema can't hold a path with blanks. */
export function referToFile(file: string, folder: string): string {
  const path = relative(folder, file);
  if (isAbsolute(path) || /\s/.test(path)) return pathToFileURL(file).href;
  const written = path.replaceAll(sep, '/');
  return written.startsWith('../') ? written : `./${written}`;
}

const fillIn = (value: string, what: string): Written => ({
  yaml: writeYaml(value),
  note: `PLACEHOLDER: put in ${what}.`,
});

const database = (address: string): SourceText => ({
  kind: 'sql',
  settings: {
    // The address holds a password.
    url: fromVariable('HOTEL_REVIEW_SOURCE_URL'),
    query: fillIn(placeholder.query, 'your own query'),
  },
  secrets: { HOTEL_REVIEW_SOURCE_URL: address },
});

/**
 * What `init --kind` writes, to be filled in: a source that is no file on this machine.
 *
 * @param refer names a file of this package as a person who reads the configuration finds it
 */
export const createSourceTemplates = (refer: (file: string) => string) =>
  ({
    http: {
      kind: 'http',
      settings: {
        url: fillIn(placeholder.api, "the API's address"),
        headers: { yaml: `\n    Authorization: "Bearer \${HOTEL_REVIEW_SOURCE_TOKEN}"` },
      },
      secrets: { HOTEL_REVIEW_SOURCE_TOKEN: placeholder.word },
    },
    postgres: database(placeholder.database),
    mysql: database(placeholder.mysql),
    s3: {
      kind: 'csv',
      settings: {
        kind: { note: '`ndjson` for a JSON object per line.' },
        path: fillIn(
          placeholder.bucketPath,
          "the bucket and the path. Access comes from Amazon's own variables, such as AWS_REGION and AWS_ACCESS_KEY_ID, or from the profile or role of the machine",
        ),
      },
      secrets: {},
    },
    sftp: {
      kind: 'csv',
      settings: {
        kind: { note: '`ndjson` for a JSON object per line.' },
        path: fillIn(placeholder.serverPath, 'the server and the path'),
        sftp: { yaml: `\n${renderAccount(['source', 'sftp'], 'HOTEL_REVIEW_SOURCE_PASSWORD')}` },
      },
      secrets: { HOTEL_REVIEW_SOURCE_PASSWORD: placeholder.word },
    },
    module: {
      kind: 'module',
      settings: {
        path: fillIn(
          'bookings.mjs',
          `your file: ${refer('docs/sources.md')} says how to write it, and ${refer('examples/bookings.mjs')} is an example`,
        ),
      },
      secrets: {},
    },
  }) satisfies Readonly<Record<string, SourceText>>;
