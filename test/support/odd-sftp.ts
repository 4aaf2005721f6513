import ssh2, { type Attributes, type FileEntry, type SFTPWrapper } from 'ssh2';
import type { RunningSftpServer } from './sftp-server.js';
import { replaceMembers, startSpoiltSftp } from './spoilt-sftp.js';

const { STATUS_CODE } = ssh2.utils.sftp;

/** What is odd about a server, each as servers that people use are. */
export interface Oddities {
  /** What it says about a file or folder: any attribute may be left out. */
  describe?(attributes: Attributes, where: 'listing' | 'stat', path: string): Partial<Attributes>;
  /** The line about an entry of a listing. */
  longname?(entry: FileEntry): string;
  /** Answers a missing path with the general failure. */
  readonly missingIsFailure?: boolean;
  /** Closes the connection after every rename, successful or not, before or after it has answered. */
  readonly cutsAfterRename?: 'answered' | 'unanswered';
  /** Fails a request without a reason, denies it, closes connection or channel instead of answering it, or does nothing at all. */
  refuse?(request: string, path: string): 'failure' | 'denied' | 'cut' | 'channel' | 'silence' | undefined;
  /** Those that it offers. */
  readonly algorithms?: ssh2.ServerConfig['algorithms'];
  /** What it keeps of the bytes of a write, while it answers with success. */
  keep?(bytes: Buffer): Buffer;
  /** The kind of request that it answers with the general failure although it has done it. */
  readonly failsAfter?: string;
  /** Delays the answer to a request for bytes, from their position on. */
  beforeRead?(position: number): Promise<void>;
}

export interface OddSftp extends RunningSftpServer {
  /** The kinds of requests that arrived. */
  readonly requests: readonly string[];
}

const password = 'of the odd server';

/** An SFTP server that does what it should, in an odd way. */
export async function startOddSftp(oddities: Oddities): Promise<OddSftp> {
  const { describe = (attributes) => attributes, longname = (entry) => entry.longname } = oddities;
  const { keep = (bytes) => bytes } = oddities;
  const requests: string[] = [];

  const server = await startSpoiltSftp(
    { username: 'agency', password },
    {
      config: { ...(oddities.algorithms && { algorithms: oddities.algorithms }) },
      authenticate(attempt) {
        if (attempt.method === 'password' && attempt.password === password) return attempt.accept();
        attempt.reject(['password']);
      },
      spoil(channel, connection) {
        const asked = new Map<
          number,
          { readonly name: string; readonly path: string; readonly at: number }
        >();
        const about = (id: number) => asked.get(id) ?? { name: '', path: '', at: 0 };
        const isRename = (id: number) => ['RENAME', 'EXTENDED'].includes(about(id).name);
        return replaceMembers(channel, {
          on: (name: string, listener: (...given: unknown[]) => void) =>
            (channel as NodeJS.EventEmitter).on(name, (...given: unknown[]) => {
              asked.set(Number(given[0]), { name, path: String(given[1]), at: Number(given[2]) });
              requests.push(name);
              const refused = oddities.refuse?.(name, String(given[1]));
              if (refused === 'cut') connection.end();
              else if (refused === 'channel') channel.end();
              else if (refused === 'failure') channel.status(Number(given[0]), STATUS_CODE.FAILURE);
              else if (refused === 'denied') channel.status(Number(given[0]), STATUS_CODE.PERMISSION_DENIED);
              else if (refused === 'silence') return;
              else if (name !== 'WRITE') listener(...given);
              else listener(...given.slice(0, 3), keep(given[3] as Buffer));
            }),
          status(id: number, code: number, message?: string) {
            const isFailure =
              about(id).name === oddities.failsAfter ||
              (oddities.missingIsFailure && code === STATUS_CODE.NO_SUCH_FILE);
            const cut = isRename(id) ? oddities.cutsAfterRename : undefined;
            if (cut !== 'unanswered') channel.status(id, isFailure ? STATUS_CODE.FAILURE : code, message);
            if (cut !== undefined) connection.end();
          },
          async data(id: number, bytes: Buffer) {
            // The sandbox may use its memory again.
            const copy = Buffer.from(bytes);
            await oddities.beforeRead?.(about(id).at);
            channel.data(id, copy);
          },
          attrs: (id: number, attributes: Attributes) =>
            channel.attrs(id, describe(attributes, 'stat', about(id).path) as Attributes),
          name: (id: number, entries: readonly FileEntry[]) =>
            channel.name(
              id,
              entries.map((entry) => spoilEntry(entry)),
            ),
        }) as SFTPWrapper;

        function spoilEntry(entry: FileEntry): FileEntry {
          const attrs = describe(entry.attrs, 'listing', entry.filename) as Attributes;
          return { ...entry, longname: longname(entry), attrs };
        }
      },
    },
  );
  return { ...server, requests };
}
