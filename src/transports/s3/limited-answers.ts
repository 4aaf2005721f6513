import { Readable, Transform } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';

/** A page of a listing has a thousand keys of 1,024 bytes at most, and some XML around each. */
const longestAnswer = 16 * 1024 * 1024;
/** For the whole of such an answer, because a server may send only a byte now and then. */
const answerMs = 120_000;

/**
 * Limits what a server answers, except for the content of an object: the client would collect an endless error or
 * listing in memory.
 */
export function limitAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        const result = await next(call);
        const response = result.response as { readonly statusCode: number; body?: unknown };
        const isContent = commandName === 'GetObjectCommand' && response.statusCode < 300;
        if (!isContent && response.body instanceof Readable) response.body = limit(response.body);
        return result;
      },
    // Right after the answer arrived, before it is read.
    { step: 'deserialize', priority: 'low', name: 'limitAnswers' },
  );
}

function limit(body: Readable): Readable {
  let bytes = 0;
  const limited = new Transform({
    transform(block: Buffer, _encoding, done) {
      bytes += block.length;
      if (bytes > longestAnswer) done(createFailure('AnswerTooLong'));
      else done(null, block);
    },
  });
  const timer = setTimeout(() => limited.destroy(createFailure('AnswerTooSlow')), answerMs).unref();
  body.once('error', (error) => limited.destroy(error));
  limited.once('close', () => {
    clearTimeout(timer);
    body.destroy();
  });
  return body.pipe(limited);
}

function createFailure(code: string): Error {
  return Object.assign(new Error(code), { code });
}
