import type { SftpSession } from '../../../sftp/sftp.js';
import type { StepOutcome } from '../../delivery.js';
import type { Sighting } from '../../review-file.js';
import { expectClaim } from '../fencing.js';
import { inSession } from '../file-outcome.js';
import type { FileAttempt, FileParts } from '../file-parts.js';
import { publishReviewFile, removeLeftovers } from '../publishing.js';
import { createResultNameTest } from '../result-name.js';
import { earlierName, hashSpooled } from '../spooled-file.js';

/**
 * `upload`: brings home what lies there from an earlier run, so that nothing is lost and its result can't be taken for
 * the new one, and then publishes the review file. (Spec 4.3, step 2.)
 */
export async function uploadReviewFile(parts: FileParts, attempt: FileAttempt): Promise<StepOutcome> {
  const { remote, signal, run } = attempt;
  return inSession(parts.sftp, signal, async (session) => {
    await session.makeFolder(remote.folder);
    await removeLeftovers(parts, attempt, session);
    const notOurs = await clearEarlier(parts, attempt, session);
    const published = await publishReviewFile(parts, attempt, session);
    return {
      kind: 'done',
      evidence: { code: 'ok', sha256: run.file?.sha256 },
      file: { ...published, notOurs },
    };
  });
}

/** Answers the results that could not be removed: whoever waits for a result must know them. */
async function clearEarlier(
  parts: FileParts,
  attempt: FileAttempt,
  session: SftpSession,
): Promise<readonly Sighting[]> {
  const { remote, day } = attempt;
  const isResult = createResultNameTest(parts.resultPattern, day);
  const staying: Sighting[] = [];
  for (const found of await session.list(remote.folder)) {
    const path = `${remote.folder}/${found.name}`;
    await expectClaim(parts, attempt);
    if (found.name === remote.name) await keepEarlier(parts, attempt, session, found.name);
    else if (isResult(found.name)) {
      await keepEarlier(parts, attempt, session, found.name);
      await expectClaim(parts, attempt);
      if ((await session.remove(path)) === 'denied') staying.push(found);
    }
  }
  return staying;
}

/** Into this run's archive, under a name with its checksum: to do it twice changes nothing. */
async function keepEarlier(
  parts: FileParts,
  attempt: FileAttempt,
  session: SftpSession,
  name: string,
): Promise<void> {
  const { spool, archive, notify } = parts;
  const { run, claim, day, remote } = attempt;
  const spooled = earlierName(run);
  await session.download(`${remote.folder}/${name}`, await spool.locate(spooled), {
    onProgress: (done, total) => notify({ type: 'transferring', run, step: claim.step, done, total }),
  });
  const sha256 = (await hashSpooled(spool, spooled)) ?? '';
  await expectClaim(parts, attempt);
  // What an attempt of this run published before it was cut off is nothing of an earlier one.
  if (sha256 !== run.file?.sha256)
    await archive.keep(day.iso, run.id, `earlier-${sha256.slice(0, 12)}-${name}`, spool.read(spooled));
  await spool.remove([spooled]);
}
