import type { SftpServer } from '../../src/transports/sftp/sftp.js';
import type { Written } from './service.js';

/** The results that the service has written, and which of them a restored ledger does not know. */
export function createWrittenResults() {
  let coming: Written[] = [];
  /** By path. */
  const there = new Map<string, Written>();
  let forgotten: Written[] = [];
  return {
    add(one: Written): void {
      coming.push(one);
      forgotten = forgotten.filter(({ path }) => path !== one.path);
    },
    /** All that has come since the last time, the oldest first. What would come later never does. */
    take(now: number): readonly Written[] {
      const seen = coming.filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
      coming = [];
      for (const one of seen) there.set(one.path, one);
      return seen;
    },
    /** What the ledger does not know any more comes once more, when its run reads it. */
    noteRead(path: string, run: string): void {
      const isRead = (one: Written) => one.path === path && one.run === run;
      coming.push(...forgotten.filter(isRead));
      forgotten = forgotten.filter((one) => !isRead(one));
    },
    /** @param known what a restored ledger knows */
    forget(known: ReadonlySet<object>): void {
      forgotten = [...there.values()].filter((one) => !known.has(one));
    },
  };
}

/** Tells of each file that is read. */
export function watchDownloads(server: SftpServer, onDownload: (path: string) => void): SftpServer {
  return {
    async connect(options) {
      const session = await server.connect(options);
      return {
        ...session,
        download(path, ...rest) {
          onDownload(path);
          return session.download(path, ...rest);
        },
      };
    },
  };
}
