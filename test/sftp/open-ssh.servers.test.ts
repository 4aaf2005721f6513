import { openSsh } from '../support/sftp-programs.js';
import { describeSftpFullDisk, describeSftpSession } from './describe-sftp-session.js';

describeSftpSession(openSsh);
describeSftpFullDisk(openSsh);
