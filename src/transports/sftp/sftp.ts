import { SafeError } from '../../base/safe-error.js';

/** A file as the server describes it. */
export interface RemoteFile {
  /** Without its folder. */
  readonly name: string;
  readonly size: number;
  /** Epoch milliseconds; the protocol's resolution is one second. Absent where the server reports no time. */
  readonly modifiedAt?: number;
}

/** What a server's times say: when a file was changed, nothing because there are none, or nothing because it is always now. */
export type TimeSource = 'kept' | 'none' | 'clock';

/** A file on this machine: a path, or a file that is stored in another form than its content. */
export type LocalFile = string | StoredFile;

export interface StoredFile {
  readonly path: string;
  /** How many bytes the content has. */
  measure(): Promise<number>;
  /** The content. A block is valid until the next one is read. */
  read(): AsyncIterable<Uint8Array>;
  /** Converts content that arrives in pieces. */
  convert(): FileConverter;
}

/** What it returns is valid until the next call or iteration. */
export interface FileConverter {
  /** What is to be stored after the piece, which belongs to the caller; often nothing. */
  take(piece: Uint8Array): Iterable<Uint8Array>;
  /** The rest. */
  end(): Uint8Array;
}

/** How much a session may cost, whatever the server sends. */
export interface SftpLimits {
  /** The entries of a folder, of any kind. */
  readonly maxEntries: number;
  /** How long an upload or a download may take, even with steady progress. */
  readonly transferMs: number;
  /** How long any other operation may take. */
  readonly operationMs: number;
  /** How long an uploaded file may be shorter than it is: some servers report the size a few seconds late. */
  readonly lateSizeMs: number;
}

export const defaultLimits: SftpLimits = {
  maxEntries: 100_000,
  transferMs: 3_600_000,
  operationMs: 300_000,
  lateSizeMs: 10_000,
};

/** How large a file may be that is downloaded. */
export interface SizeLimit {
  readonly bytes: number;
  /** A sentence that says what to do about a larger one. */
  readonly advice: string;
}

/**
 * A session with the SFTP server. Paths are relative to the configured root, with forward slashes and no leading one:
 * `VerifyMappings/112026/20112026.csv`; the empty path is the root itself. An operation without progress for too long
 * ends the connection, and so does one that takes too long in spite of it.
 *
 * Each operation throws SftpError, the signal's reason when aborted, or RangeError for a path that could leave the root.
 * Once the connection has ended, every further operation throws the retryable `connection-lost`.
 */
export interface SftpSession {
  /**
   * The regular files of a folder, and what the server does not describe; empty when the folder does not exist. The server chooses the names: files whose name
   * can't be used as it is (see isUsableForeignName) are left out. A folder with too many entries is `too-many-files`.
   */
  list(folder: string, options?: ListOptions): Promise<readonly RemoteFile[]>;
  /** Undefined when the file does not exist. */
  stat(path: string): Promise<RemoteFile | undefined>;
  /** Whether a file has changed since it was seen. A time says so only where the server keeps times. */
  hasChanged(path: string, seen: RemoteFile): Promise<boolean>;
  /** What the server's time of a file is worth. Takes a second where it reports one. */
  examineTime(path: string): Promise<TimeSource>;
  /** Creates a folder and its parents where they are missing. */
  makeFolder(path: string): Promise<void>;
  /**
   * Uploads a file, replacing an existing one, and verifies that all of it arrived: a full disk can cut it short without
   * an error, and some servers report the size late. A partial upload stays after a failure.
   */
  upload(local: LocalFile, path: string, options?: TransferOptions): Promise<void>;
  /**
   * Downloads into a local file (mode 0600) that appears whole or not at all, and verifies that the remote file did not
   * change meanwhile (else the retryable `changed-while-reading`). Nothing is downloaded of a file that is larger than
   * the limit (`too-large`) or than what is free on the local disk (`no-local-space`).
   */
  download(path: string, local: LocalFile, options: DownloadOptions): Promise<RemoteFile>;
  /**
   * The bytes from `from` up to but excluding `to`; the retryable `changed-while-reading` where the file ends earlier. A
   * caller that reads several ranges compares size and time itself.
   */
  readRange(path: string, range: ByteRange): Promise<Uint8Array>;
  /**
   * Moves a file of `size` bytes to its final name, replacing what is there; never leaves a partial file under it. Atomic
   * where the server offers posix-rename; elsewhere an existing target is removed first.
   *
   * Safe to repeat after a lost answer: when `from` is gone and `to` has that size, it has succeeded. (Contents of the
   * same size are not distinguished: check the content where that matters.) Some servers close the connection after every
   * rename: then this opens another one, at most twice.
   *
   * @returns the published file; undefined where the server moves it away at once
   */
  publish(from: string, to: string, size: number): Promise<RemoteFile | undefined>;
  remove(path: string): Promise<'removed' | 'absent' | 'denied'>;
  /** Idempotent; never throws; takes at most about a second. */
  close(): Promise<void>;
}

export interface ListOptions {
  /** Called with each name that is left out. Don't print it: it may hold control characters. */
  readonly onUnusableName?: (name: string) => void;
}

export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

export interface TransferOptions {
  readonly onProgress?: (bytesDone: number, bytesTotal: number) => void;
}

export interface DownloadOptions extends TransferOptions {
  readonly limit: SizeLimit;
  /**
   * Receives the bytes in order while they arrive, before it is known whether all of them will. They are valid until the
   * promise settles; if it rejects, `download` throws its reason. Not for a download that resumes.
   */
  readonly onBytes?: (bytes: Uint8Array) => Promise<void>;
  /**
   * Keeps what arrived before a failure, or before the process was killed, beside the local path. The next such download
   * to that path continues after it if the remote file still has the same size and time, and otherwise starts over, as it
   * does where the server reports no time.
   * Nobody else may write to the local folder. For paths only.
   */
  readonly resumes?: boolean;
}

export interface SftpServer {
  /** The signal stops connecting and every operation of the session. */
  connect(options: { readonly signal: AbortSignal }): Promise<SftpSession>;
}

/**
 * A failed operation. `kind` says what the runner must do: `retryable` (no connection, deadline, short file), `fatal`
 * (authentication or host key refused, private key unreadable: a person must act), `denied` (the server refuses this
 * operation) or `excessive` (the server offers more than is accepted; the message says what to do). The message names operation and path, never a secret.
 */
export class SftpError extends SafeError {
  override readonly name = 'SftpError';
  constructor(
    readonly kind: 'retryable' | 'fatal' | 'denied' | 'excessive',
    /** Short and safe: `connection-lost`, `host-key-refused`, `permission-denied`, `disk-full`, … */
    readonly code: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

export function retryable(code: string, message: string, cause?: unknown): SftpError {
  return new SftpError('retryable', code, message, { cause });
}
