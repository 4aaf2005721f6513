import { readFile } from 'node:fs/promises';
import { createDatabaseFault, readErrorCode } from './database-fault.js';

/** The certificate, in PEM, of who vouches for a server. @throws SourceError that names the file */
export async function readAuthority(path: string, where: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = readErrorCode(error) ?? 'unknown';
    throw createDatabaseFault('certificate-untrusted', where, `${path} can't be read: ${code}`);
  }
}
