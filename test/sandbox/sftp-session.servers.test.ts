import { describeSftpFullDisk } from '../sftp/describe-sftp-session.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';

describeSftpFullDisk(sandboxSftp);
