import { expect, it } from 'vitest';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';
import { fillCopy, mappingColumns, prepareExportFolder, smallExport } from './export-day.js';

const server = useSftpServer(openSsh);
const id = '0b2f6a1e-6f0d-4c54-9d3a-2f1c7f7f0a11';
/** Heap in megabytes, a little more than the command needs to start. */
const smallHeap = { env: { NODE_OPTIONS: '--max-old-space-size=48' }, asProcess: true };

it('fetches and compares an export larger than the heap in which every row differs', async () => {
  const rows = 600_000;
  const lines = Array.from(
    { length: rows },
    (_, row) =>
      `${row + 1},HOTEL-${row},Bedlink,2026-11-20T00:00:00Z,"Retail,Net;B2B,Opaque","LOCATION\n${row}"\n`,
  );
  const { folder, put } = await prepareExportFolder(server());
  put(id, { ...smallExport, mappings: `${mappingColumns}\n${lines.join('')}` });
  await fillCopy(folder, [
    { providerName: 'Bedlink', providerHotelId: 'GONE', serviceId: 1, channelIds: [], isDeleted: false },
  ]);
  const fetched = await folder.run(['export', 'fetch', '--json'], smallHeap);
  expect(fetched).toMatchObject({ exitCode: 0, json: { files: [{ rows }, {}, {}] } });
  const compared = await folder.run(['export', 'compare', '--json', '--out', 'all.ndjson'], smallHeap);
  expect(compared).toMatchObject({ exitCode: 0, json: { added: rows, changed: 0, gone: 1 } });
}, 180_000);
