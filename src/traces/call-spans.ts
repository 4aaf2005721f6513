import { type Attributes, SpanKind } from '@opentelemetry/api';
import type { WatchCall } from '../http/watch-call.js';
import type { ClosableSftpServer } from '../sftp/server.js';
import type { SftpSession } from '../sftp/sftp.js';
import { endAfter, endSpan, type Spans } from './spans.js';
import type { ServerAddress } from './tracing.js';

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Calls outside of traced work have no span. The attributes are those of the semantic conventions for HTTP clients. */
export function createCallWatch(spans: Spans): WatchCall {
  return ({ method, url: address }) => {
    const parent = spans.current();
    if (!parent) return () => {};
    const url = new URL(address);
    const span = spans.startChild(parent, `${method} ${url.pathname}`, {
      kind: SpanKind.CLIENT,
      attributes: {
        'http.request.method': method,
        'url.full': url.href,
        'url.path': url.pathname,
        'server.address': url.hostname,
        'server.port': Number(url.port) || defaultPorts[url.protocol],
      },
    });
    return ({ status, failure }) => {
      const error = failure ?? (status !== undefined && status >= 400 ? String(status) : undefined);
      endSpan(span, error, status === undefined ? {} : { 'http.response.status_code': status });
    };
  };
}

type TraceOperation = <Result>(
  name: string,
  work: () => Promise<Result>,
  describe?: (result: Result) => Attributes,
) => Promise<Result>;

/** Spans of SFTP hold no path: the server chooses the names of some files. */
export function traceSftpServer(
  spans: Spans,
  server: ClosableSftpServer,
  { host, port }: ServerAddress,
): ClosableSftpServer {
  const attributes = { 'server.address': host, 'server.port': port };
  const trace: TraceOperation = (name, work, describe) => {
    const parent = spans.current();
    if (!parent) return work();
    const span = spans.startChild(parent, `sftp ${name}`, { kind: SpanKind.CLIENT, attributes });
    return endAfter(span, work(), describe);
  };
  return {
    ...server,
    connect: async (options) => traceSession(await trace('connect', () => server.connect(options)), trace),
  };
}

function traceSession(session: SftpSession, trace: TraceOperation): SftpSession {
  return {
    list: (...args) => trace('list', () => session.list(...args), countFiles),
    stat: (path) => trace('stat', () => session.stat(path)),
    makeFolder: (path) => trace('mkdir', () => session.makeFolder(path)),
    upload: (...args) => trace('upload', () => session.upload(...args)),
    download: (...args) => trace('download', () => session.download(...args), countSize),
    readRange: (...args) => trace('read', () => session.readRange(...args), countBytes),
    readEnd: (...args) => trace('read', () => session.readEnd(...args), countBytes),
    publish: (...args) =>
      trace(
        'rename',
        () => session.publish(...args),
        () => countBytes({ length: args[2] }),
      ),
    remove: (path) => trace('remove', () => session.remove(path)),
    copyMode: (...args) => trace('chmod', () => session.copyMode(...args)),
    close: () => session.close(),
  };
}

const countFiles = ({ length }: { readonly length: number }) => ({ 'hotel_review.sftp.files': length });
const countBytes = ({ length }: { readonly length: number }) => ({ 'hotel_review.sftp.bytes': length });
const countSize = ({ size }: { readonly size: number }) => ({ 'hotel_review.sftp.bytes': size });
