import * as z from 'zod';
import { createSlots } from '../schedule/slots.js';
import {
  expected,
  group,
  isAccepted,
  numberUpTo,
  text,
  textLike,
  textThat,
  wholeNumber,
} from '../settings/values.js';

const hourInSeconds = 3_600;
const weekInMinutes = 10_080;
const cronFields = 'five cron fields such as "0 1 * * *"';
const namePattern = 'a file name with {account}, {guid} and * for anything';

/** The local copy of the account's mappings: how it is kept, and what it is used for. */
export const mappings = group({
  limit: wholeNumber(1, 1_000).default(1_000).describe('Mappings asked for in one call.'),
  providerFamily: text('the name of a provider')
    .exactOptional()
    .describe('The one provider whose mappings are copied; those of all of them without it.'),
  overlapMinutes: numberUpTo(weekInMinutes)
    .default(10)
    .describe(
      'How far before the beginning of the last sync, by the clock of the service, the next one begins.',
    ),
  deletedTypes: z
    .array(text('a Type such as Delete'), expected('a list of Types'))
    .default(['Delete', 'Deleted'])
    .describe('The values of `Type` by which the service says that a mapping is gone, in any case.'),
  resumeKeyCodes: z
    .array(wholeNumber(0, 999_999_999), expected('a list of StatusCodes'))
    .default([2006, 2027])
    .describe('The `StatusCode`s by which the service says that it does not know a resume key any more.'),
  cron: textLike(/^\s*(?:[\w*/,?#-]+\s+){4}[\w*/,?#-]+\s*$/, cronFields)
    .refine((pattern) => isAccepted(() => createSlots(pattern, 'UTC')), expected(cronFields))
    .exactOptional()
    .describe('When `serve` syncs the copy, in the configured time zone; never without it.'),
  suspectDays: wholeNumber(0, 366)
    .default(7)
    .describe('For how many days a booking is a suspect whose mapping moved to another master hotel.'),
  fillServiceId: z
    .boolean(expected('true or false'))
    .default(false)
    .describe(
      'Whether a booking without a ServiceId gets that of the copy; it is then not independently checked.',
    ),
});

const fileName = (kind: string) =>
  textThat(isNamePattern, namePattern).default(`{account}_${kind}_{guid}.csv`);

/** The files in which the service exports its mappings, on the server of `file.sftp`. */
export const exportFiles = group({
  folder: z
    .string(expected('a path'))
    .default('')
    .describe('The folder under the SFTP root in which exports appear; the root itself without it.'),
  mappingsPattern: fileName('mappings').describe(
    "The pattern of the mapping file's name; `*` stands for anything.",
  ),
  transformedPattern: fileName('transformed').describe("The pattern of the transformed file's name."),
  hotelsPattern: fileName('hotels').describe("The pattern of the content file's name."),
  pollSeconds: numberUpTo(hourInSeconds)
    .default(30)
    .describe('How long it is until it is looked for an export again.'),
  quietSeconds: numberUpTo(hourInSeconds)
    .default(30)
    .describe('How long the files of an export must be unchanged to count as whole.'),
  timeoutMinutes: numberUpTo(weekInMinutes)
    .default(360)
    .describe('How long `export fetch` waits for an export before it says that there is none yet.'),
});

function isNamePattern(pattern: string): boolean {
  return (
    !pattern.includes('/') &&
    pattern.split('{guid}').length === 2 &&
    !/[{}]/.test(pattern.replace(/\{(?:account|guid)\}/g, ''))
  );
}
