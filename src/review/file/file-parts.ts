import type { Archive } from '../../archive/archive.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { ReviewService } from '../../mapping-service/client.js';
import type { SftpServer } from '../../sftp/sftp.js';
import type { Spool } from '../../spool/spool.js';
import type { Notify } from '../events.js';
import type { Ledger } from '../ledger.js';
import type { Run } from '../run.js';
import type { Claim } from '../step.js';
import type { RemoteLayout } from './remote-layout.js';

/** What the steps of a file delivery work with. */
export interface FileParts {
  readonly ledger: Pick<
    Ledger,
    'getRun' | 'measureBatches' | 'readBatch' | 'holdsClaim' | 'replaceAffected' | 'listAttempts'
  >;
  readonly service: Pick<ReviewService, 'reviewBookedHotelsByFile'>;
  readonly sftp: SftpServer;
  readonly spool: Spool;
  readonly archive: Archive;
  /** The master id's column in the review file, a setting. (Spec 2.6.) */
  readonly masterIdColumn: string;
  /** Stands before the path from the SFTP root in the by-file call. */
  readonly pathPrefix: string;
  /** See createResultNameTest. */
  readonly resultPattern: string;
  readonly resultPollMs: number;
  readonly resultQuietMs: number;
  readonly resultTimeoutMs: number;
  /** Name and version of this program, for the manifest. */
  readonly tool: string;
  readonly clock: () => number;
  readonly notify: Notify;
}

/** One attempt of a step of a file delivery. */
export interface FileAttempt {
  readonly claim: Claim;
  readonly run: Run;
  readonly day: BusinessDay;
  readonly remote: RemoteLayout;
  readonly signal: AbortSignal;
}
