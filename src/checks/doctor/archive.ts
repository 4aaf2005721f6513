import { randomUUID } from 'node:crypto';
import { describeError } from '../../base/safe-error.js';
import { findMisfit } from '../../review/archive-fit.js';
import { describeUnknown, findUnknownFolders } from '../../review/unknown-folders.js';
import { ArchiveError, reportsFolder, toBlocks } from '../../storage/archive.js';
import { type Check, findingsOf } from '../check.js';

const { ok, warning, wrong } = findingsOf('archive');

/** Stores a small object, lists it, reads it back and removes it: permissions alone prove nothing. */
export const bucket: Check = {
  part: 'archive',
  seconds: 20,
  appliesTo: ({ config }) => config.archive.kind === 's3',
  async look(app) {
    const { path, store, list, read, remove } = app.archive();
    const content = 'An object of hotel-review doctor. It can be removed.\n';
    const [folder, name] = [`doctor-${randomUUID()}`, 'trial.txt'];
    let found = '';
    try {
      await store(reportsFolder, folder, name, toBlocks(content));
      try {
        for await (const block of read(reportsFolder, folder, name)) found += Buffer.from(block).toString();
        if (!(await list(reportsFolder, folder)).includes(name)) found = '';
      } finally {
        await remove(reportsFolder, folder, [name]);
      }
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      return [wrong(error.message, error.peer === 'refused' ? neededRights : undefined)];
    }
    return [
      found === content
        ? ok(`an object was put to ${path}, listed and read back`)
        : wrong(
            `${path} does not return what was put there`,
            'Is AWS_ENDPOINT_URL_S3 the address of an S3 server?',
          ),
    ];
  },
};

const neededRights =
  'The account needs s3:PutObject, s3:GetObject, s3:DeleteObject and s3:AbortMultipartUpload there, and s3:ListBucket and s3:ListBucketMultipartUploads on the bucket; s3.accessKeyId and s3.secretAccessKey say who it is.';

/** Whether the archive belongs to the ledger, and what it holds that the ledger does not know. */
export const archive: Check = {
  part: 'archive',
  seconds: 40,
  async look(app) {
    const archive = app.archive();
    const ledger = await app.findLedger().catch(() => 'unusable' as const);
    if (ledger === 'unusable') return [];
    try {
      const misfit = await findMisfit({ archive, ledger, location: await app.locateLedger() });
      const { ours, unmarked } = await findUnknownFolders(archive, ledger);
      return [
        misfit
          ? wrong(misfit.message, 'No run starts until that is put right.')
          : ok(`${archive.path} belongs to this ledger, or to none yet`),
        ...warnOf(
          describeUnknown(archive, ours),
          'A ledger that is gone knew them. guest purge removes what is due of them, and guest erase looks into them.',
        ),
        ...warnOf(
          describeUnknown(archive, unmarked),
          "They have no mark of their account, so nothing of them is ever changed. They may hold guests' names: if they are yours, remove them yourself.",
        ),
      ];
    } catch (error) {
      return [warning(describeError(error), 'Fix that: by file no run starts meanwhile.')];
    }
  },
};

const warnOf = (lines: readonly string[], advice: string) =>
  lines.length === 0 ? [] : [warning(lines.join('\n'), advice)];
