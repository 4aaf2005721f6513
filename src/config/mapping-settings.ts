import * as z from 'zod';
import { createSlots } from '../schedule/slots.js';
import {
  expected,
  group,
  isAccepted,
  numberUpTo,
  oneOf,
  share,
  text,
  textLike,
  textThat,
  wholeNumber,
} from '../settings/values.js';

const hourInSeconds = 3_600;
const weekInMinutes = 10_080;
const cronFields = 'five cron fields such as "0 1 * * *"';
const namePattern = 'a file name with {account}, {guid} and * for anything';

/** The local copy of the account's mappings. */
export const mappings = group({
  limit: wholeNumber(1, 1_000_000)
    .default(1_000)
    .describe('Mappings per request. More than 1,000 only if the account allows it.'),
  providerFamily: text('the name of a provider')
    .exactOptional()
    .describe('Copies the mappings of this provider only; by default those of all providers.'),
  overlapMinutes: numberUpTo(weekInMinutes)
    .default(10)
    .describe("By how much a sync overlaps the start of the previous one, by the service's clock."),
  deletedTypes: z
    .array(text('a Type such as Delete'), expected('a list of Types'))
    .default(['Delete', 'Deleted'])
    .describe('The values of `Type`, in any case, with which the service marks a mapping as deleted.'),
  resumeKeyCodes: z
    .array(wholeNumber(0, 999_999_999), expected('a list of StatusCodes'))
    .default([2006, 2027])
    .describe('The `StatusCode`s with which the service rejects an unknown or expired resume key.'),
  lastPage: oneOf('null-key', 'empty-page', 'either')
    .default('either')
    .describe(
      'Which page ends a sync: the first without a `ResumeKey`, the first without mappings, or whichever comes first.',
    ),
  maxPagesWithoutNews: wholeNumber(1, 100_000)
    .default(10)
    .describe(
      'A sync fails after this many pages in a row that are empty or only repeat earlier ones, instead of continuing for ever.',
    ),
  maxSkippedShare: share()
    .default(0.1)
    .describe(
      'Mappings that cannot be read are skipped and counted. A page with a larger share of them, and more than five, fails the sync.',
    ),
  cron: textLike(/^\s*(?:[\w*/,?#-]+\s+){4}[\w*/,?#-]+\s*$/, cronFields)
    .refine((pattern) => isAccepted(() => createSlots(pattern, 'UTC')), expected(cronFields))
    .exactOptional()
    .describe('When `serve` syncs the copy, in the configured time zone. Without it, `serve` does not sync.'),
  suspectDays: wholeNumber(0, 366)
    .default(7)
    .describe(
      'For how many days a booking counts as suspect after its mapping moved to another master hotel.',
    ),
});

const fileName = (kind: string) =>
  textThat(isNamePattern, namePattern).default(`{account}_${kind}_{guid}.csv`);

/** The files in which the service exports its mappings, on the server of `file.sftp`. */
export const exportFiles = group({
  folder: z
    .string(expected('a path'))
    .default('')
    .describe('The folder, relative to the SFTP root, in which exports appear; by default the root itself.'),
  mappingsPattern: fileName('mappings').describe(
    "The pattern of the mapping file's name; `*` stands for anything.",
  ),
  transformedPattern: fileName('transformed').describe("The pattern of the transformed file's name."),
  hotelsPattern: fileName('hotels').describe("The pattern of the content file's name."),
  pollSeconds: numberUpTo(hourInSeconds).default(30).describe('The time between two checks for an export.'),
  quietSeconds: numberUpTo(hourInSeconds)
    .default(30)
    .describe('How long the files of an export must be unchanged to count as complete.'),
  maxGigabytes: numberUpTo(10_000).default(20).describe('The largest file of an export that is downloaded.'),
  timeoutMinutes: numberUpTo(weekInMinutes)
    .default(360)
    .describe('How long `export fetch` waits for an export before it ends without one.'),
});

function isNamePattern(pattern: string): boolean {
  return (
    !pattern.includes('/') &&
    pattern.split('{guid}').length === 2 &&
    !/[{}]/.test(pattern.replace(/\{(?:account|guid)\}/g, ''))
  );
}
