import type { BusinessDay } from '../../booking/business-day.js';

/** Where a day's review file lies on the SFTP server, from its root, without a leading slash. (Spec 4.3, step 2.) */
export interface RemoteLayout {
  readonly folder: string;
  readonly name: string;
  readonly path: string;
  /** A name that no other attempt of the step has, and that nobody takes for a file to be reviewed. */
  temporaryPath(runId: string, token: number, attempt: number): string;
  /** Whether a file of the folder is what an attempt of that day left behind. */
  isLeftover(name: string): boolean;
}

const temporarySuffix = '.part';

export function layOutRemotely({ mmyyyy, ddmmyyyy }: BusinessDay): RemoteLayout {
  const folder = `VerifyMappings/${mmyyyy}`;
  const name = `${ddmmyyyy}.csv`;
  return {
    folder,
    name,
    path: `${folder}/${name}`,
    temporaryPath: (runId, token, attempt) =>
      `${folder}/${ddmmyyyy}.${runId}.${token}-${attempt}${temporarySuffix}`,
    isLeftover: (found) => found.startsWith(`${ddmmyyyy}.`) && found.endsWith(temporarySuffix),
  };
}
