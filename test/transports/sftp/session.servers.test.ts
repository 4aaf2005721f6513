import { openSsh, proFtpd } from '../../support/sftp-programs.js';
import { describeFilesOnServer, describeSftpFullDisk, describeSftpSession } from './describe-sftp-session.js';

describeSftpSession(openSsh);
describeFilesOnServer(proFtpd);
for (const kind of [openSsh, proFtpd]) describeSftpFullDisk(kind);
