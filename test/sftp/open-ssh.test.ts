import { openSsh } from '../support/open-ssh.js';
import { describeSftpSession } from './describe-sftp-session.js';

describeSftpSession(openSsh);
