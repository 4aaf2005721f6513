/** What becomes of a file that was taken. Paths are those of the SFTP server's clients; no guest is named. */
export type FileReviewEvent =
  | {
      readonly kind: 'result-written';
      /** `VerifyMappings/112026/20112026_Result.csv` */
      readonly path: string;
      /** Records of the file. */
      readonly rows: number;
      /** How many of those are mapped incorrectly. */
      readonly incorrect: number;
      /** The letter's path on this disk, where one was due. */
      readonly letter?: string;
    }
  /** By a fault: only the first so many records were written, and the others never are. */
  | {
      readonly kind: 'result-partial';
      readonly path: string;
      readonly rows: number;
      readonly written: number;
      readonly incorrect: number;
      readonly letter?: string;
    }
  /** By a fault: neither a result nor a letter. */
  | { readonly kind: 'result-missing'; readonly path: string; readonly rows: number }
  /** The sandbox was closed before; a growing result is left as far as it had got. */
  | { readonly kind: 'result-given-up'; readonly path: string }
  /** The disk refused it, with the error's code: is the folder still there? */
  | { readonly kind: 'result-failed'; readonly path: string; readonly reason: string }
  /** The result is written, and the outbox refused the letter. */
  | { readonly kind: 'letter-failed'; readonly path: string; readonly reason: string };
