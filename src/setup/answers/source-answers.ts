/** Where a day's bookings come from, as far as it is known. */
export type SourceAnswers = FileAnswers | SqlAnswers | HttpAnswers | ModuleAnswers;

export type SourceKind = SourceAnswers['kind'];

/** What an export is written in. */
export type FileKind = FileAnswers['kind'];

/** One file a day. */
export interface FileAnswers {
  readonly kind: 'csv' | 'ndjson';
  /** On this machine, `s3://…` or `sftp://…`. */
  readonly path: string;
  /** Where the path is `s3://…`. */
  readonly bucket?: BucketAnswers | undefined;
  /** Where the path is `sftp://…`. */
  readonly drop?: DropAnswers | undefined;
}

export interface BucketAnswers {
  /** Without one it is Amazon's. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  /** Whether the access key is a secret of `.env`; otherwise it is found as Amazon's own tools find it. */
  readonly hasKey: boolean;
}

/** The account at the SFTP server of the files. */
export interface DropAnswers {
  readonly username: string | undefined;
  /** Without one the password is used. */
  readonly keyFile: string | undefined;
  readonly hostKey: string | undefined;
}

export interface SqlAnswers {
  readonly kind: 'sql';
  /** `sqlite:PATH`; undefined for a server, whose address is a secret. */
  readonly file: string | undefined;
  readonly query: QueryAnswer | undefined;
}

export type QueryAnswer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string };

export interface HttpAnswers {
  readonly kind: 'http';
  readonly url: string | undefined;
  readonly auth: AuthAnswers;
  /** Where an answer holds its list of bookings; undefined where it is that list. */
  readonly records: string | undefined;
  readonly pagination: PaginationAnswers;
}

/** How the API knows who asks. */
export type AuthAnswers =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer' }
  | { readonly kind: 'basic'; readonly username: string | undefined }
  | { readonly kind: 'header'; readonly name: string };

/** How the API hands out more bookings than one answer holds. */
export type PaginationAnswers =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'page';
      readonly parameter: string;
      readonly first: number;
      readonly size: { readonly parameter: string; readonly size: number } | undefined;
    }
  | {
      readonly kind: 'offset';
      readonly parameter: string;
      readonly limitParameter: string;
      readonly limit: number;
    }
  /** Without a parameter the field holds the next address. */
  | { readonly kind: 'cursor'; readonly field: string; readonly parameter: string | undefined }
  | { readonly kind: 'link' };

export interface ModuleAnswers {
  readonly kind: 'module';
  readonly path: string;
}

/** Whether a file lies on this machine. */
export function isLocalFile(source: SourceAnswers): source is FileAnswers {
  return (
    (source.kind === 'csv' || source.kind === 'ndjson') &&
    source.bucket === undefined &&
    source.drop === undefined
  );
}
