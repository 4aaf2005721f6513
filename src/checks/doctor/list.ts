import type { Check } from '../check.js';
import { archive, bucket } from './archive.js';
import { fileModes } from './file-modes.js';
import { disk, writtenFolders } from './folders.js';
import { keys } from './keys.js';
import { ledger } from './ledger.js';
import { storedNames } from './names.js';
import { messages } from './notify.js';
import { publicUrl } from './public-url.js';
import { queue } from './queue.js';
import { service } from './service.js';
import { settings } from './settings.js';
import { sftp } from './sftp.js';
import { source } from './source.js';
import { users } from './users.js';
import { canary, mailbox, unreadVerdicts } from './verdicts.js';

/**
 * All checks. Opening the ledger restricts the mode of its file, so that comes after the check of the modes; and it may block the
 * process for a moment, so no other check waits for an answer meanwhile.
 */
export const checks: readonly (readonly Check[])[] = [
  [settings, fileModes, users],
  [source, service, sftp, publicUrl],
  [ledger],
  [
    ...[keys, queue, writtenFolders, bucket, archive, storedNames],
    ...[mailbox, unreadVerdicts, canary, messages, disk],
  ],
];
