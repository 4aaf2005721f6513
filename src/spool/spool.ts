/** A file as it lies in the spool. */
export interface SpooledFile {
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/**
 * Where files wait on this machine on their way to the SFTP server and from it, by plain names. It is a cache: whatever
 * is in it can be made again, and nobody minds when it is empty. Files hold guest names: mode 0600.
 */
export interface Spool {
  /** Writes a file, whole or not at all; one of that name is replaced. What `content` throws comes through. */
  write(name: string, content: AsyncIterable<Uint8Array>): Promise<SpooledFile>;
  /** The local path of a file, there or not, in a folder that is there: for a transfer from or to it. */
  locate(name: string): Promise<string>;
  /** @throws the system's error, with code ENOENT when there is no such file; while it is being iterated */
  read(name: string): AsyncIterable<Uint8Array>;
  /** Reads a file whole; undefined when there is none. */
  measure(name: string): Promise<SpooledFile | undefined>;
  /** The names of its files, half-written ones too. */
  list(): Promise<readonly string[]>;
  /** Those that are gone already are fine. */
  remove(names: readonly string[]): Promise<void>;
}
