export const megabyte = 1024 * 1024;
/** An e-mail that is larger is not read. */
export const maxMailBytes = 25 * megabyte;

/**
 * Whether what a mailbox hands out is no e-mail at all: empty, or what a crash or a failing disk leaves of a file. Nobody sent that, so
 * it says nothing about its sender.
 */
export function isNoMail(bytes: Buffer): boolean {
  return isBlank(bytes) || (isBinary(bytes) && !looksLikeMail(bytes));
}

/** Whether there is nothing but spaces, line ends and NUL. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0 || byte === 32 || (byte >= 9 && byte <= 13));
}

/**
 * Whether bytes are a spreadsheet, a ZIP file or the like, whatever they are called: ZIP (and so XLSX), PDF, gzip, the old Office format,
 * 7-Zip, RAR, Zstandard and XZ.
 */
export function isDocument(bytes: Buffer): boolean {
  return /^(?:504b0304|504b0506|25504446|1f8b|d0cf11e0|377abcaf|52617221|28b52ffd|fd377a58)/.test(
    bytes.toString('hex', 0, 4),
  );
}

/** How far an e-mail's headers are looked at. */
const examinedBytes = 16_384;

/** Whether bytes are not text but, for example, a spreadsheet or a ZIP file. */
export function isBinary(bytes: Buffer): boolean {
  const isUtf16 = /^(?:fffe|feff)/.test(bytes.toString('hex', 0, 2));
  return isDocument(bytes) || (!isUtf16 && bytes.subarray(0, examinedBytes).includes(0));
}

/** Some of these are in every e-mail, and in no list of bookings. */
const mailHeader =
  /^(?:from|to|received|return-path|delivered-to|message-id|mime-version|content-type|content-transfer-encoding|x-[a-z-]+)[ \t]*:/i;

/** Whether bytes begin with the headers of an e-mail. */
export function looksLikeMail(bytes: Buffer): boolean {
  const lines = bytes
    .toString('latin1', 0, examinedBytes)
    .replace(/^(?:\r?\n)+/, '')
    .split(/\r?\n/);
  const end = lines.indexOf('');
  const headers = lines.slice(0, end).filter((line) => !/^[ \t]/.test(line));
  return /^[!-9;-~]+[ \t]*:/.test(headers[0] ?? '') && headers.some((line) => mailHeader.test(line));
}
