import { readFile } from 'node:fs/promises';
import { unzipSync } from 'fflate';
import PostalMime from 'postal-mime';

/** A file's text; of an archive, its entries with their texts. */
export async function readFace(path: string): Promise<string> {
  const bytes = await readFile(path);
  if (!path.endsWith('.zip')) return bytes.toString();
  return (
    Object.entries(unzipSync(bytes))
      .map(([name, content]) => `=== ${name}\n${Buffer.from(content)}`)
      .join('\n')
      // Of texts with instants and ids in them.
      .replace(/\b[0-9a-f]{64}\b/g, 'CHECKSUM')
  );
}

/** What a person reads of an e-mail, and the names of what is attached. */
export async function describeEmail(raw: string): Promise<string> {
  const { subject, from, to, text, attachments } = await PostalMime.parse(raw);
  const names = attachments.map(({ filename, mimeType }) => `${filename} (${mimeType})`);
  return [
    `From: ${from?.address}`,
    `To: ${to?.map(({ address }) => address).join(', ')}`,
    `Subject: ${subject}`,
    ...names.map((name) => `Attached: ${name}`),
    '',
    text?.trim(),
  ].join('\n');
}
