import type { Observer } from '../events/events.js';
import type { WatchCall } from '../http/watch-call.js';
import type { Delivery } from '../review/delivery.js';
import type { ClosableSftpServer } from '../sftp/server.js';

/** Host and port of a server. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** What a process's work passes through to be traced. No span holds guest data, a reference, a secret or a URL's query. */
export interface Tracing {
  /** Turns events into spans: a run is a trace, or a part of one. */
  readonly observe: Observer | undefined;
  /** Calls become spans of the work that makes them. */
  readonly watchCall: WatchCall | undefined;
  /** The operations of its sessions become spans of the work that they belong to. */
  traceSftp(server: ClosableSftpServer, address: ServerAddress): ClosableSftpServer;
  /** Calls and operations belong to the step that is performed. */
  traceSteps(delivery: Delivery): Delivery;
  /** Performs work as a trace of its own. */
  traceWork<Result>(name: TracedWork, work: () => Promise<Result>): Promise<Result>;
  /** Sends what was not sent yet, for a few seconds at most. Idempotent; never throws. */
  close(): Promise<void>;
}

/** Work outside of runs that is traced. */
export type TracedWork = 'mappings sync' | 'watch' | 'export request' | 'export fetch';

export const noTracing: Tracing = {
  observe: undefined,
  watchCall: undefined,
  traceSftp: (server) => server,
  traceSteps: (delivery) => delivery,
  traceWork: (_name, work) => work(),
  close: async () => {},
};
