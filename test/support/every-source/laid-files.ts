import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { sftpSettings } from '../file-day.js';
import { day } from '../made-bookings.js';
import { bucketName, type RunningS3Server } from '../s3-server.js';
import type { RunningSftpServer } from '../sftp-server.js';
import type { HurtfulRecord } from './hurtful-day.js';
import { type LaidDay, makeFolder } from './review-laid-day.js';
import { type WrittenDay, writeCsv, writeNdjson } from './written-days.js';

type Records = readonly HurtfulRecord[];

export async function layCsv(records: Records): Promise<LaidDay> {
  const written = writeCsv(records);
  return { settings: { source: await layFile('csv', written.text) }, recordAt: byLine(written) };
}

export async function layCsvInGzip(records: Records): Promise<LaidDay> {
  const written = writeCsv(records);
  return { settings: { source: await layFile('csv', gzipSync(written.text)) }, recordAt: byLine(written) };
}

export async function layNdjson(records: Records): Promise<LaidDay> {
  const written = writeNdjson(records);
  return { settings: { source: await layFile('ndjson', written.text) }, recordAt: byLine(written) };
}

export async function layInBucket(records: Records, { put, access }: RunningS3Server): Promise<LaidDay> {
  const written = writeCsv(records);
  await put(`every/2026/11/${day}.csv.gz`, gzipSync(written.text));
  const { endpoint, accessKeyId, secretAccessKey } = access();
  return {
    settings: {
      source: { kind: 'csv', path: `s3://${bucketName}/every/{day:yyyy/MM}/{day}.csv.gz` },
      s3: { endpoint, accessKeyId, secretAccessKey },
    },
    recordAt: byLine(written),
  };
}

export async function layOnSftpServer(records: Records, server: RunningSftpServer): Promise<LaidDay> {
  const written = writeNdjson(records);
  writeFileSync(server.disk(`${day}.ndjson`), written.text);
  const { sftp } = sftpSettings(server, server.port) as { readonly sftp: Readonly<Record<string, unknown>> };
  const { host, port, root, hostKey: _, ...account } = sftp;
  return {
    settings: {
      source: {
        kind: 'ndjson',
        path: `sftp://${host}:${port}${root}/{day}.ndjson`,
        sftp: { ...account, hostKey: [...server.fingerprints] },
      },
    },
    recordAt: byLine(written),
  };
}

async function layFile(kind: 'csv' | 'ndjson', content: string | Uint8Array) {
  const folder = await makeFolder();
  await writeFile(join(folder, `bookings-${day}`), content);
  return { kind, path: join(folder, 'bookings-{day}') };
}

const byLine =
  ({ lines }: WrittenDay) =>
  (line: number) =>
    lines.indexOf(line);
