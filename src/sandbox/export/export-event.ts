/** What becomes of an export that was taken. Files are named as the SFTP server's clients see them; no address is told. */
export type ExportEvent =
  | {
      readonly kind: 'export-written';
      readonly files: readonly string[];
      /** The letter's path on this disk. */
      readonly letter?: string;
    }
  /** By a fault: of each file only the first half of the records. */
  | { readonly kind: 'export-partial'; readonly files: readonly string[]; readonly letter?: string }
  /** By a fault: neither files nor a letter. */
  | { readonly kind: 'export-missing'; readonly files: readonly string[] }
  /** The sandbox was closed before; files that were growing are left as far as they had got. */
  | { readonly kind: 'export-given-up'; readonly files: readonly string[] }
  /** The disk refused them, with the error's code. */
  | { readonly kind: 'export-failed'; readonly files: readonly string[]; readonly reason: string }
  /** The files are written, and the outbox refused the letter. */
  | { readonly kind: 'export-letter-failed'; readonly files: readonly string[]; readonly reason: string };
