import { proFtpd } from '../support/sftp-programs.js';
import { describeSftpFullDisk, describeSftpSession } from './describe-sftp-session.js';

describeSftpSession(proFtpd);
describeSftpFullDisk(proFtpd);
