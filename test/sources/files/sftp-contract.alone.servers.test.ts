import { writeFileSync } from 'node:fs';
import { createSftpDayFile } from '../../../src/sources/files/remote-day-files.js';
import { createSftpServer } from '../../../src/transports/sftp/server.js';
import { describeSourceContract } from '../../contracts/source.js';
import { openSsh } from '../../support/sftp-programs.js';
import { useSftpServer } from '../../support/use-servers.js';
import { csvInGzip, type FilePlace, prepareFiles } from './file-driver.js';

const server = useSftpServer(openSsh);

function makePlace(): FilePlace {
  const { port, login, root, fingerprints, disk } = server();
  return {
    file: createSftpDayFile({
      address: `sftp://127.0.0.1:${port}`,
      transferMs: 600_000,
      path: 'bookings-{day}.csv',
      open: async () => createSftpServer({ host: '127.0.0.1', port, ...login, root, hostKeys: fingerprints }),
    }),
    lay: async (day, content) => writeFileSync(disk(`bookings-${day}.csv`), content),
    held: () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length,
  };
}

// The contracts of local files cover the differences between forms.
describeSourceContract(`${csvInGzip.name} on an SFTP server`, prepareFiles(csvInGzip, makePlace));
