import { SafeError } from '../../text/safe-error.js';

/** A file of an export is not what the specification says of it. The message names the file and what is wrong with it. */
export class ExportFileError extends SafeError {
  override readonly name = 'ExportFileError';
  constructor(
    readonly file: string,
    what: string,
  ) {
    super(`${file}: ${what}`);
  }
}
