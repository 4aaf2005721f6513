import type { SftpSession } from '../../sftp/sftp.js';
import type { StepOutcome } from '../delivery.js';
import { isSameSighting, type ReviewFile, type Sighting } from '../review-file.js';
import { type FileAttempt, type FileParts, inSession } from './file-attempt.js';
import { findResults } from './remote-files.js';
import { fetchResult, hashSpooled, resultName } from './spooled-files.js';

/** What one check found, before the clock decides whether there is another one. */
type Look =
  | { readonly kind: 'done'; readonly file: Partial<ReviewFile> }
  | { readonly kind: 'not-yet'; readonly code: string; readonly file?: Partial<ReviewFile> };

/**
 * `await-result`: checks once for the result (spec 4.3, step 4; design 5). It is complete if it ends with a line end
 * and has as many records as were sent, or if it has not changed for `resultQuietMs`. A result that names bookings
 * which were not sent is archived, and waiting continues.
 */
export async function awaitResult(parts: FileParts, attempt: FileAttempt): Promise<StepOutcome> {
  const { sftp, clock, resultPollMs, resultTimeoutMs } = parts;
  const { run, signal } = attempt;
  const deadline = (run.file?.triggeredAt ?? run.startedAt) + resultTimeoutMs;
  const outcome = await inSession(sftp, signal, async (session) => {
    const look = await lookForResult(parts, attempt, session);
    if (look.kind === 'done') return { kind: 'done', evidence: { code: 'ok' }, file: look.file };
    return {
      kind: 'waiting',
      evidence: { code: look.code },
      until: clock(),
      ...(look.file && { file: look.file }),
    };
  });
  // A server that is away for a while is no reason to give up on the result.
  if (outcome.kind !== 'waiting' && outcome.kind !== 'retryable') return outcome;
  const { evidence, file } = outcome;
  if (clock() >= deadline) return { kind: 'overdue', evidence, ...(file && { file }) };
  return {
    kind: 'waiting',
    evidence,
    until: Math.min(clock() + resultPollMs, deadline),
    ...(file && { file }),
  };
}

async function lookForResult(parts: FileParts, attempt: FileAttempt, session: SftpSession): Promise<Look> {
  const { clock, resultQuietMs, spool } = parts;
  const { run } = attempt;
  const [seen] = await findResults(parts, attempt, session);
  if (!seen) return { kind: 'not-yet', code: 'result-absent' };
  const now = clock();
  const { growing } = run.file ?? {};
  const isUnchanged = growing !== undefined && isSameSighting(seen, growing);
  const isQuiet = isUnchanged && now - growing.since >= resultQuietMs;
  // It was read before and was incomplete.
  if (isUnchanged && !isQuiet) return { kind: 'not-yet', code: 'result-growing' };

  const joined = await fetchResult(parts, attempt, session, seen);
  if (!joined) return { kind: 'not-yet', code: 'result-growing' };
  const isWhole = joined.end.isWhole && joined.end.rows === joined.sent;
  if (joined.foreign > 0 && (joined.end.isWhole || isQuiet)) return setAside(parts, attempt, seen);
  if (!isWhole && !isQuiet)
    return { kind: 'not-yet', code: 'result-growing', file: { growing: { ...seen, since: now } } };
  const sha256 = (await hashSpooled(spool, resultName(run))) ?? '';
  return { kind: 'done', file: { result: { ...seen, sha256, rows: joined.end.rows, isWhole } } };
}

/** Another file's result is evidence too. */
async function setAside(
  { archive, spool }: FileParts,
  { run, day }: FileAttempt,
  seen: Sighting,
): Promise<Look> {
  const spooled = resultName(run);
  const sha256 = (await hashSpooled(spool, spooled)) ?? '';
  await archive.keep(day.iso, run.id, `foreign-${sha256.slice(0, 12)}-${seen.name}`, spool.read(spooled));
  await spool.remove([spooled]);
  const notOurs = [...(run.file?.notOurs ?? []), seen];
  return { kind: 'not-yet', code: 'result-not-ours', file: { notOurs } };
}
