import type { DeliveryKind } from '../review/run.js';

/** The options of `init`: answers that need no question. There are none for secrets. */
export interface InitOptions {
  readonly kind?: 'csv' | 'ndjson' | 'sql' | 'http' | 'module';
  readonly path?: string;
  /** The day whose bookings are shown. YYYY-MM-DD */
  readonly day?: string;
  readonly url?: string;
  readonly query?: string;
  readonly queryFile?: string;
  readonly auth?: 'none' | 'bearer' | 'basic' | 'header';
  readonly authName?: string;
  readonly records?: string;
  readonly pagination?: 'none' | 'page' | 'offset' | 'cursor' | 'link';
  readonly pageParameter?: string;
  readonly firstPage?: '0' | '1';
  readonly pageSizeParameter?: string;
  readonly pageSize?: number;
  readonly cursorField?: string;
  readonly s3Endpoint?: string;
  readonly s3Region?: string;
  readonly sourceSftpUsername?: string;
  readonly sourceSftpKeyFile?: string;
  readonly sourceSftpHostKey?: string;
  readonly timezone?: string;
  readonly baseUrl?: string;
  readonly delivery?: DeliveryKind;
  readonly sftpHost?: string;
  readonly sftpPort?: number;
  readonly sftpUsername?: string;
  readonly sftpKeyFile?: string;
  /** Ask nothing. */
  readonly yes: boolean;
}
