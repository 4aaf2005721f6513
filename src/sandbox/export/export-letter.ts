import type { WrittenLetter } from '../letter-post.js';

/** The letter that an export goes with: it names the files. (Assumed: the specification doesn't say what it holds.) */
export function writeExportLetter(
  to: string,
  providers: readonly string[],
  files: readonly string[],
): WrittenLetter {
  const paragraphs = [
    `The mappings of ${providers.join(', ')} have been exported. The files are on the SFTP server:`,
    files.map((file) => `  ${file}`).join('\n'),
  ];
  return { to, subject: 'Your mappings have been exported', text: `${paragraphs.join('\n\n')}\n` };
}
