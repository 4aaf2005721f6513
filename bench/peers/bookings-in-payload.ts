import { createReadStream } from 'node:fs';
import { Queue } from 'bullmq';
import { parse } from 'csv-parse';
import { Redis } from 'ioredis';

/**
 * Queues a day like BullMQ's examples, with the data in the job itself: `bookings-in-payload.ts REDIS CSV`. Skips malformed
 * records.
 */
const [url = '', csv = ''] = process.argv.slice(2);
const batchSize = 500;
const batchesAtOnce = 20;

const connection = new Redis(url, { maxRetriesPerRequest: null });
const queue = new Queue('bookings', { connection, skipVersionCheck: true });
const records = createReadStream(csv).pipe(parse({ columns: true, skip_records_with_error: true }));

let Hotels: unknown[] = [];
let jobs: { name: string; data: unknown }[] = [];
for await (const record of records) {
  Hotels.push(record);
  if (Hotels.length === batchSize) await queueBatch();
}
if (Hotels.length > 0) await queueBatch();
await queue.addBulk(jobs);
await queue.close();
connection.disconnect();

async function queueBatch(): Promise<void> {
  jobs.push({ name: 'batch', data: { Hotels } });
  Hotels = [];
  if (jobs.length < batchesAtOnce) return;
  await queue.addBulk(jobs);
  jobs = [];
}
