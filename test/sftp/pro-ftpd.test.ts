import { proFtpd } from '../support/pro-ftpd.js';
import { describeSftpSession } from './describe-sftp-session.js';

describeSftpSession(proFtpd);
