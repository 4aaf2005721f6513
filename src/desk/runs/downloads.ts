import type { Archive } from '../../archive/archive.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import { dayOfRunId } from '../../review/day/open-run.js';
import { manifestName } from '../../review/file/archive-run.js';
import { verifyKept, verifyManifest } from '../../review/file/verify-run.js';
import { HttpError } from '../../server/http-error.js';
import type { WriteCommand } from '../../text/shell.js';
import { readArchived } from '../archived-file.js';
import { type Download, type DownloadedFile, defineDownload } from '../page.js';
import { findShownRun, runInput } from './find-run.js';

export interface DownloadParts {
  readonly ledger: ReadOnlyLedger;
  readonly archive: Pick<Archive, 'read'>;
  readonly command: WriteCommand;
}

/** The result of a run, as it was received; it holds guests' names. Compared with its checksum before the first byte is sent. */
export function createResultDownload({ ledger, archive, command }: DownloadParts): Download {
  return defineDownload({
    path: '/runs/:id/result',
    permission: 'see-names',
    input: runInput,
    contentType: 'application/octet-stream',
    audit: ({ id }) => ({
      action: 'download',
      subject: dayOfRunId(id),
      details: { run: id, file: 'result' },
    }),
    async open({ id }) {
      const run = await findArchivedRun(ledger, id);
      const { result } = run.file ?? {};
      if (!result) throw new HttpError(404, 'no result of this run was judged');
      if (run.linesBlanked)
        throw new HttpError(
          404,
          'the result was removed with the names in it, as agreed; its checksum is kept',
        );
      const fault = await verifyKept({ ledger, archive }, run, result);
      if (fault !== undefined) throw differs('the result in the archive', fault, command, run);
      return readKept(archive, run, result.name);
    },
  });
}

/** What was sent and when, what came back, and all checksums; no guest's name. First compared with the ledger. */
export function createManifestDownload({ ledger, archive, command }: DownloadParts): Download {
  return defineDownload({
    path: '/runs/:id/manifest',
    permission: 'look',
    input: runInput,
    contentType: 'application/json; charset=utf-8',
    audit: ({ id }) => ({
      action: 'download',
      subject: dayOfRunId(id),
      details: { run: id, file: 'manifest' },
    }),
    async open({ id }) {
      const run = await findArchivedRun(ledger, id);
      const { items } = await verifyManifest({ archive }, run);
      const wrong = items.find(({ fault }) => fault !== undefined);
      if (wrong) throw differs(wrong.item, wrong.fault ?? '', command, run);
      return readKept(archive, run, manifestName);
    },
  });
}

/** @throws HttpError 404 */
async function findArchivedRun(ledger: DownloadParts['ledger'], id: string): Promise<Run> {
  const run = await findShownRun(ledger, id);
  if (run.file?.archivedTo === undefined)
    throw new HttpError(404, 'nothing of this run is in the archive yet');
  return run;
}

function differs(item: string, fault: string, command: WriteCommand, { day }: Run): HttpError {
  return new HttpError(
    409,
    `not sent, because it is not what the ledger recorded: ${item}: ${fault}. To check all of it: ${command(`verify ${day}`)}`,
    {},
    'unverified',
  );
}

function readKept(archive: DownloadParts['archive'], { day, id }: Run, name: string): DownloadedFile {
  return { name: `${id}-${name}`, content: readArchived(archive, [day, id, name]) };
}
