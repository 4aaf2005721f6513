import { sandboxSftp } from '../support/sandbox-sftp.js';
import { describeSftpSession } from '../transports/sftp/describe-sftp-session.js';

describeSftpSession(sandboxSftp);
