/** There was no answer in time. The work may still complete. */
export class TooLateError extends Error {
  override readonly name = 'TooLateError';
  constructor(readonly milliseconds: number) {
    super(`no answer within ${milliseconds / 1000} s`);
  }
}

/** Waits for an answer, but no longer than that. @throws TooLateError */
export async function answerWithin<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLateError(milliseconds)), milliseconds);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
