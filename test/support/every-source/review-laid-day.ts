import { readFileSync } from 'node:fs';
import type { ClosingReport } from '../command.js';
import { expectReport } from '../expectations.js';
import { prepareFileDay, remotePath } from '../file-day.js';
import { type ReceivedHotel, type StandIn, success } from '../http-stand-in.js';
import { prepareDay } from '../prepared-day.js';
import type { RunningSftpServer } from '../sftp-server.js';
import { type KeptRows, readKeptRows } from './kept-rows.js';
import type { LaidDay } from './laid-day.js';

/** What came of a day, wherever it came from. */
export interface Outcome {
  readonly counts: ClosingReport['counts'];
  /** The bodies of all requests, sorted: several are under way at the same time. */
  readonly bodies: readonly string[];
  readonly hotels: readonly ReceivedHotel[];
  readonly rows: KeptRows;
  /** The uploaded file; undefined for a delivery by body. */
  readonly file: string | undefined;
}

/** Has the command review it, as a user does, by body and by file. */
export async function reviewLaidDay(laid: LaidDay, server: RunningSftpServer) {
  const [byBody, byFile] = await Promise.all([reviewByBody(laid), reviewByFile(laid, server)]);
  return { byBody, byFile };
}

async function reviewByBody(laid: LaidDay): Promise<Outcome> {
  const { folder, standIn } = await prepareDay({ settings: laid.settings });
  const result = await folder.runDay();
  expectReport(result, { exitCode: 0, state: 'succeeded' });
  return {
    counts: result.report.counts,
    ...readRequests(standIn),
    rows: await readKeptRows(folder.ledgerFile, laid),
    file: undefined,
  };
}

async function reviewByFile(laid: LaidDay, server: RunningSftpServer): Promise<Outcome> {
  const { folder, standIn } = await prepareFileDay(server, {
    settings: laid.settings,
    async onCall(call) {
      await call.writeResult({ affected: call.renderResult().match(/90071992547\d+5(?=,)/g) ?? [] });
      return success;
    },
  });
  const result = await folder.runDay();
  expectReport(result, { exitCode: 0, state: 'succeeded' });
  return {
    counts: result.report.counts,
    ...readRequests(standIn),
    rows: await readKeptRows(folder.ledgerFile, laid),
    file: readFileSync(server.disk(remotePath), 'utf8'),
  };
}

function readRequests(standIn: StandIn) {
  const posts = standIn.requests.filter(({ method }) => method === 'POST');
  return { bodies: posts.map(({ body }) => body.toString()).sort(), hotels: standIn.accepted() };
}
