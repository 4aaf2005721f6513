import { engine } from './engine.js';
import { openSsh } from './open-ssh.js';
import { proFtpd } from './pro-ftpd.js';
import type { SftpServerKind } from './sftp-server.js';

/** Two makes of server; one where the same is tried a second time, for the client of SFTP is the same there. */
export const sftpKinds: readonly SftpServerKind[] = engine.workers === 0 ? [openSsh, proFtpd] : [openSsh];
