import { createHash } from 'node:crypto';
import { readHeaders } from './sender.js';

/** The checksum by which an e-mail is known again; a copy may have other line ends. */
export function identifyMail(bytes: Buffer): string {
  return createHash('sha256').update(withPlainLineEnds(bytes)).digest('hex');
}

/** Byte by byte: an e-mail may consist of them. */
function withPlainLineEnds(bytes: Buffer): Buffer {
  const plain = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === 13 && bytes[at + 1] === 10) continue;
    plain[length] = bytes[at] ?? 0;
    length += 1;
  }
  return plain.subarray(0, length);
}

/** What is read of an e-mail, or says how. Each server on the way adds others, so that copies differ in those. */
const headersOfContent = /^(?:from|subject|content-type|content-transfer-encoding)$/;

/** The checksum of what an e-mail says: it is the same in all of its copies. */
export function identifyContent(bytes: Buffer): string {
  const plain = withPlainLineEnds(bytes);
  const end = plain.indexOf('\n\n');
  const headers = readHeaders(plain).filter(({ name }) => headersOfContent.test(name));
  return createHash('sha256')
    .update(JSON.stringify(headers))
    .update(end === -1 ? plain : plain.subarray(end))
    .digest('hex');
}
