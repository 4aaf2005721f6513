import { describe } from 'vitest';
import type { SftpServerKind } from '../../support/sftp-server.js';
import { describeDownloading } from './session/downloading.js';
import { describeFaults } from './session/faults.js';
import { describeLooking } from './session/looking.js';
import { describePublishing } from './session/publishing.js';
import { describeResuming } from './session/resuming.js';
import { prepareTrial, type SessionTrial } from './session/trial.js';
import { describeFullDisk, describeUploading } from './session/uploading.js';

/** The contract of a session, tested on a real server. */
export function describeSftpSession(kind: SftpServerKind): void {
  describe(`a session with ${kind.name}`, () => {
    const trial = prepareTrial(kind);
    describeFiles(trial);
    describeResuming(trial);
    // Last, because it freezes sessions, including the shared one.
    describeFaults(trial);
  });
}

/** Without what only the client decides: how it resumes, and what it does when the connection fails. */
export function describeFilesOnServer(kind: SftpServerKind): void {
  describe(`a session with ${kind.name}`, () => describeFiles(prepareTrial(kind)));
}

function describeFiles(trial: SessionTrial): void {
  describeLooking(trial);
  describeUploading(trial);
  describeDownloading(trial);
  describePublishing(trial);
}

/** The part of it that needs a disk of its own. */
export function describeSftpFullDisk(kind: SftpServerKind): void {
  describe(`a session with ${kind.name}`, () => describeFullDisk(prepareTrial(kind)));
}
