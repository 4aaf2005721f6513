import * as z from 'zod';
import { expected, group, isAccepted, text, textLike } from '../base/setting-values.js';
import { createCronTimes } from '../schedule/cron-times.js';

const cronFields = 'five cron fields such as "0 1 * * *"';

/** The local copy of the account's mappings. */
export const mappings = group({
  cron: textLike(/^\s*(?:[\w*/,?#-]+\s+){4}[\w*/,?#-]+\s*$/, cronFields)
    .refine((pattern) => isAccepted(() => createCronTimes(pattern, 'UTC')), expected(cronFields))
    .exactOptional()
    .describe('When `serve` syncs the copy, in the configured time zone. Without it, `serve` does not sync.'),
  newHotels: text('a file')
    .exactOptional()
    .describe(
      'A file to which each sync, of `serve` or by hand, appends the master hotels that it saw for the first time, one line of JSON each.',
    ),
});

/** The files in which the service exports its mappings, on the server of `file.sftp`. */
export const exportFiles = group({
  folder: z
    .string(expected('a path'))
    .default('')
    .describe('The folder, relative to the SFTP root, in which exports appear; by default the root itself.'),
});
