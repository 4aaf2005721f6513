import { sandboxSftp } from '../support/sandbox-sftp.js';
import { describeSftpFullDisk } from '../transports/sftp/describe-sftp-session.js';

describeSftpFullDisk(sandboxSftp);
