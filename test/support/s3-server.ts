import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import S3rver from 's3rver';
import { afterAll, beforeAll } from 'vitest';
import type { ObjectContent } from '../../src/transports/s3/bucket.js';
import type { S3Access } from '../../src/transports/s3/client.js';

export const bucketName = 'agency-bookings';

// The client's notice about Node versions would clutter the test output.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

/** The key id and the secret that s3rver expects signatures to be made with. */
const keyOfS3rver = 'S3RVER';
export const s3Secrets: readonly string[] = [keyOfS3rver];

/** Answers instead of the server and returns true, or leaves the request to it. */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Refuses, or answers, as servers do: without a body for HEAD. @param more of the XML, beside the code */
export function answerWith(
  status: number,
  code: string,
  {
    headers = {},
    more = '',
  }: { readonly headers?: Readonly<Record<string, string>>; readonly more?: string } = {},
): Intercept {
  return (request, response) => {
    void once(request.resume(), 'end').then(() => {
      response.writeHead(status, { 'content-type': 'application/xml', ...headers });
      response.end(request.method === 'HEAD' ? '' : `<Error><Code>${code}</Code>${more}</Error>`);
    });
    return true;
  };
}

export interface RunningS3Server {
  readonly port: number;
  /** The bucket's settings, through another port when something sits between. */
  access(port?: number): S3Access & { readonly endpoint: string };
  put(key: string, content: string | Uint8Array): Promise<void>;
  read(key: string): Promise<Buffer>;
  metadataOf(key: string): Promise<Record<string, string>>;
  remove(key: string): Promise<void>;
  /** The keys of all objects, sorted. */
  keys(): Promise<readonly string[]>;
  /** Method and path of each request so far, `GET /agency-bookings/x`. */
  readonly requests: { readonly line: string; readonly headers: IncomingMessage['headers'] }[];
  /** How many requests are being answered. */
  held(): number;
  /** Applies from now on; without one, every request is left to the server. */
  intercept(intercept?: Intercept): void;
  stop(): Promise<void>;
}

/** Amazon's variables for an account, as the environment or a `.env` has them. */
export function toVariables({ endpoint, region, accessKeyId, secretAccessKey, sessionToken }: S3Access) {
  return Object.fromEntries(
    Object.entries({
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
    }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Lets all commands with the configuration in that folder reach the server. */
export function writeVariables(folder: string, access: S3Access): void {
  const lines = Object.entries(toVariables(access)).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''), { mode: 0o600 });
}

/** An S3-compatible server in this process, with one empty bucket. */
export async function startS3Server(): Promise<RunningS3Server> {
  const directory = mkdtempSync(join(tmpdir(), 's3-'));
  const s3rver = new S3rver({
    directory,
    silent: true,
    vhostBuckets: false,
    configureBuckets: [{ name: bucketName }],
  });
  await s3rver.configureBuckets();
  const answer = s3rver.callback();
  const requests: RunningS3Server['requests'] = [];
  let open = 0;
  let intercept: Intercept | undefined;
  const server = createServer((request, response) => {
    requests.push({ line: `${request.method} ${request.url}`, headers: request.headers });
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    if (intercept?.(request, response) !== true) answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const access: RunningS3Server['access'] = (otherPort = port) => ({
    endpoint: `http://127.0.0.1:${otherPort}`,
    accessKeyId: keyOfS3rver,
    secretAccessKey: keyOfS3rver,
  });
  const client = new S3Client({
    region: 'us-east-1',
    endpoint: access().endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: keyOfS3rver, secretAccessKey: keyOfS3rver },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const of = (Key: string) => ({ Bucket: bucketName, Key });
  return {
    port,
    access,
    requests,
    async put(key, content) {
      await client.send(new PutObjectCommand({ ...of(key), Body: content }));
    },
    async read(key) {
      const { Body } = await client.send(new GetObjectCommand(of(key)));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    async metadataOf(key) {
      return (await client.send(new HeadObjectCommand(of(key)))).Metadata ?? {};
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand(of(key)));
    },
    async keys() {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucketName }));
      return Contents.map(({ Key = '' }) => Key).sort();
    },
    held: () => open,
    intercept(other) {
      intercept = other;
    },
    async stop() {
      client.destroy();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      s3rver.logger.exceptions.unhandle();
      s3rver.logger.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** One server for all tests of the calling file. */
export function useS3Server(): () => RunningS3Server {
  let running: RunningS3Server | undefined;
  beforeAll(async () => {
    running = await startS3Server();
  });
  afterAll(() => running?.stop());
  return () => {
    if (running === undefined) throw new Error('the S3 server was not started');
    return running;
  };
}

/** Uploaded in one piece. */
export const text = (content: string): ObjectContent => ({
  bytes: Buffer.byteLength(content),
  metadata: {},
  async *open() {
    yield Buffer.from(content);
  },
});

/** Uploaded in three parts. `atEnd` runs while the parts are in transit. */
export function large(letter: string, atEnd: () => Promise<void> = async () => {}): ObjectContent {
  const block = Buffer.alloc(1_000_000, letter);
  return {
    bytes: 20 * block.length,
    metadata: {},
    async *open() {
      for (let count = 0; count < 20; count += 1) yield block;
      await atEnd();
    },
  };
}
