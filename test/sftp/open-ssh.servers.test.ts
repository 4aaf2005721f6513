import { openSsh } from '../support/sftp-programs.js';
import { describeSftpSession } from './describe-sftp-session.js';

describeSftpSession(openSsh);
