import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { answerMails, type ReaderLimits, watchLimits } from '../src/verdict-mails/mail-process.js';

/** The process that reads verdict e-mails. It needs nothing but their bytes, and may be killed at any moment. */
function readMails(): void {
  // Sent to all processes of a terminal or a service. The parent decides what becomes of the e-mail.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  process.once('disconnect', () => process.exit());
  const limits = JSON.parse(process.argv[2] ?? '') as ReaderLimits;
  const watcher = new Worker(new URL(import.meta.url), { workerData: limits });
  watcher.unref();
  answerMails((isReading) => watcher.postMessage(isReading));
}

if (isMainThread) readMails();
else if (parentPort) watchLimits(parentPort, workerData as ReaderLimits);
