import { SafeError } from '../text/safe-error.js';

/** A file as the server describes it. */
export interface RemoteFile {
  /** Its name alone, without a folder. */
  readonly name: string;
  readonly size: number;
  /** Epoch milliseconds; the protocol tells whole seconds. */
  readonly modifiedAt: number;
}

/**
 * A session with the SFTP server. Paths are relative to the configured root, with forward slashes and no leading one:
 * `VerifyMappings/112026/20112026.csv`; the empty path is the root itself. Every operation has a deadline without
 * progress that ends the connection.
 *
 * Each operation throws SftpError, the signal's reason when it was aborted, or RangeError for a path that could leave
 * the root. Once the connection has ended, every further operation throws the retryable `connection-lost`.
 */
export interface SftpSession {
  /** The regular files of a folder; none when there is no such folder. */
  list(folder: string): Promise<readonly RemoteFile[]>;
  /** Undefined when there is no such file. */
  stat(path: string): Promise<RemoteFile | undefined>;
  /** Creates a folder and those above it, where they are missing. */
  makeFolder(path: string): Promise<void>;
  /**
   * Uploads a file and makes sure that all of it arrived: a full disk leaves a short one without an error. One that is
   * there already is overwritten. What was uploaded before a failure stays.
   */
  upload(localPath: string, path: string, options?: TransferOptions): Promise<void>;
  /**
   * Downloads a file into a local one (mode 0600), which appears whole or not at all, and makes sure that the remote
   * one did not change meanwhile (else the retryable `changed-while-reading`).
   */
  download(path: string, localPath: string, options?: DownloadOptions): Promise<RemoteFile>;
  /**
   * The bytes of a file from the one up to, and without, the other, for reading a file piece by piece; else the retryable
   * `changed-while-reading` where it ends earlier. Whoever reads several compares size and time himself.
   */
  readRange(path: string, range: ByteRange): Promise<Uint8Array>;
  /** The last bytes of a file, at most `length` of them; of a shorter file all. */
  readEnd(path: string, length: number): Promise<Uint8Array>;
  /**
   * Moves a file of `size` bytes onto its final name, replacing what is there; never leaves a partial file under it. In
   * one step where the server offers posix-rename; elsewhere an existing target is removed first.
   *
   * Can be called again after its answer was lost: when `from` is gone and `to` has that size, it has happened. (Two
   * contents of one size are not told apart: look at the content where that matters.)
   */
  publish(from: string, to: string, size: number): Promise<void>;
  remove(path: string): Promise<'removed' | 'absent' | 'denied'>;
  /** Idempotent; never throws; takes about a second at most. */
  close(): Promise<void>;
}

export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

export interface TransferOptions {
  readonly onProgress?: (bytesDone: number, bytesTotal: number) => void;
}

export interface DownloadOptions extends TransferOptions {
  /**
   * What came of the file before a failure, or before the process was killed, stays beside the local path, and the next
   * such download to that path goes on behind it: as long as the remote file has the same size and time; otherwise it
   * begins anew. Nobody else may write to the local folder.
   */
  readonly resumes?: boolean;
}

export interface SftpServer {
  /** The signal stops connecting and every operation of the session. */
  connect(options: { readonly signal: AbortSignal }): Promise<SftpSession>;
}

/**
 * What the runner must do about a failed operation: `retryable` (no connection, deadline, short file), `fatal`
 * (authentication or host key refused, private key unreadable: a person must act) or `denied` (the server won't do
 * this one). The message names operation and path, never a secret.
 */
export class SftpError extends SafeError {
  override readonly name = 'SftpError';
  constructor(
    readonly kind: 'retryable' | 'fatal' | 'denied',
    /** Short and safe: `connection-lost`, `host-key-refused`, `permission-denied`, `disk-full`, … */
    readonly code: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
