import {
  unknownApi,
  unknownBucketPath,
  unknownDatabase,
  unknownMysql,
  unknownQuery,
  unknownServerPath,
  unknownWord,
} from '../../base/setting-placeholders.js';
import { writeYaml } from '../examination/write-yaml.js';
import { fromVariable, renderAccount, type SourceText, type Written } from './configuration-text.js';

const fillIn = (value: string, what: string): Written => ({
  yaml: writeYaml(value),
  note: `PLACEHOLDER: put in ${what}.`,
});

const database = (address: string): SourceText => ({
  kind: 'sql',
  settings: {
    // The address holds a password.
    url: fromVariable('HOTEL_REVIEW_SOURCE_URL'),
    query: fillIn(unknownQuery, 'your own query'),
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
        url: fillIn(unknownApi, "the API's address"),
        headers: { yaml: `\n    Authorization: "Bearer \${HOTEL_REVIEW_SOURCE_TOKEN}"` },
      },
      secrets: { HOTEL_REVIEW_SOURCE_TOKEN: unknownWord },
    },
    postgres: database(unknownDatabase),
    mysql: database(unknownMysql),
    s3: {
      kind: 'csv',
      settings: {
        kind: { note: '`ndjson` for a JSON object per line.' },
        path: fillIn(
          unknownBucketPath,
          "the bucket and the path. Access comes from Amazon's own variables, such as AWS_REGION and AWS_ACCESS_KEY_ID, or from the profile or role of the machine",
        ),
      },
      secrets: {},
    },
    sftp: {
      kind: 'csv',
      settings: {
        kind: { note: '`ndjson` for a JSON object per line.' },
        path: fillIn(unknownServerPath, 'the server and the path'),
        sftp: { yaml: `\n${renderAccount(['source', 'sftp'], 'HOTEL_REVIEW_SOURCE_PASSWORD')}` },
      },
      secrets: { HOTEL_REVIEW_SOURCE_PASSWORD: unknownWord },
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
