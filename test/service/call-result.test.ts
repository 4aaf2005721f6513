import { describe, expect, it } from 'vitest';
import {
  defaultStatusCodes,
  judgeAnswer,
  judgeFailure,
  type StatusCodeTable,
} from '../../src/service/call-result.js';

interface Given {
  readonly status?: number;
  readonly retryAfter?: string;
  readonly body?: unknown;
  readonly bodyTruncated?: boolean;
  readonly codes?: StatusCodeTable;
  readonly startsWork?: boolean;
}

/** A body that is neither text nor bytes is sent as JSON. */
function judge({
  status = 200,
  retryAfter,
  body = '',
  bodyTruncated = false,
  codes = defaultStatusCodes,
  ...meanings
}: Given) {
  const bytes =
    body instanceof Uint8Array
      ? Buffer.from(body)
      : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const now = new Date('2026-11-20T02:30:00Z');
  return judgeAnswer({ status, retryAfter, body: bytes, bodyTruncated, now }, { codes, ...meanings });
}

const notDone = { kind: 'retryable', outcomeUnknown: false, refusedWhenSpent: false };
const perhapsDone = { kind: 'retryable', outcomeUnknown: true, refusedWhenSpent: false };
const unknownNo = { kind: 'retryable', outcomeUnknown: false, refusedWhenSpent: true };

describe('a 200 with an envelope', () => {
  it('is accepted with Status true and StatusCode 2000', () => {
    expect(judge({ body: { Status: true, Message: 'Success', StatusCode: 2000 } })).toEqual({
      kind: 'accepted',
      code: 'ok',
      httpStatus: 200,
      statusCode: 2000,
      answer: 'Success',
    });
  });

  it.each([
    [2001, { ...notDone, code: 'code-2001' }],
    [2030, { ...notDone, code: 'code-2030' }],
    [2003, { kind: 'fatal', code: 'code-2003' }],
    [2002, { kind: 'refused', code: 'code-2002' }],
    [2009, { kind: 'refused', code: 'code-2009' }],
    [2011, { kind: 'refused', code: 'code-2011' }],
    [2020, { kind: 'refused', code: 'code-2020' }],
    [2021, { kind: 'refused', code: 'code-2021' }],
    [2999, { ...unknownNo, code: 'code-2999' }],
    [0, { ...unknownNo, code: 'code-0' }],
  ])('is judged by its StatusCode %i, whatever its Status', (statusCode, result) => {
    for (const Status of [false, true, undefined]) {
      expect(judge({ body: { Status, Message: 'No', StatusCode: statusCode } })).toEqual({
        ...result,
        httpStatus: 200,
        statusCode,
        answer: 'No',
      });
    }
  });

  it.each([
    ['Status false with 2000', { Status: false, StatusCode: 2000 }, 'status-false'],
    ['2000 without Status', { StatusCode: 2000 }, 'status-missing'],
    ['2000 with a Status that is not a boolean', { Status: 'yes', StatusCode: 2000 }, 'status-missing'],
    ['Status false without a code', { Status: false }, 'status-false'],
    ['Status true without a code', { Status: true }, 'code-missing'],
    ['a code that is not a number', { code: 'E_SOMETHING' }, 'code-missing'],
    ['a code with a fraction', { Status: true, StatusCode: 2000.5 }, 'code-missing'],
  ])('is retried and finally refused: %s', (_what, body, code) => {
    expect(judge({ body })).toMatchObject({ ...unknownNo, code });
  });

  it.each([
    ['a numeric string', { Status: true, StatusCode: '2000' }, 'accepted'],
    ['the shape {code, message}', { code: 2009, message: 'bad hotel' }, 'refused'],
    ['{code, message} with a numeric string', { code: ' 2003 ', message: 'bad key' }, 'fatal'],
    ['unknown fields', { Status: true, StatusCode: 2000, Hotels: [{}] }, 'accepted'],
  ])('is read leniently: %s', (_what, body, kind) => {
    expect(judge({ body })).toMatchObject({ kind });
  });

  it('may start with a byte order mark', () => {
    expect(judge({ body: '\uFEFF{"Status":true,"StatusCode":2000}' })).toMatchObject({ kind: 'accepted' });
  });

  it('includes Retry-After where the code is retryable', () => {
    const body = { Status: false, StatusCode: 2030 };
    expect(judge({ body, retryAfter: '9' })).toMatchObject({ ...notDone, retryAfterMs: 9_000 });
  });

  it('follows the table of the configuration', () => {
    const codes: StatusCodeTable = { 1: 'accepted', 2000: 'refused' };
    expect(judge({ codes, body: { Status: true, StatusCode: 1 } })).toMatchObject({ kind: 'accepted' });
    expect(judge({ codes, body: { Status: true, StatusCode: 2000 } })).toMatchObject({ kind: 'refused' });
    expect(judge({ codes, body: { Status: false, StatusCode: 2003 } })).toMatchObject(unknownNo);
  });
});

describe('a 200 that cannot be read', () => {
  const success = '{"Status":true,"Message":"Success","StatusCode":2000}';

  it.each<[string, string | Buffer, boolean?]>([
    ['empty', ''],
    ['an HTML page', '<!doctype html><title>Sign in</title>'],
    ['a list', '[{"Status":true,"StatusCode":2000}]'],
    ['a bare value', 'true'],
    ['null', 'null'],
    ['an object without status and code', '{"Message":"Success"}'],
    ['an object of nulls', '{"Status":null,"StatusCode":null,"code":null}'],
    ['cut off', success.slice(0, -1)],
    ['compressed', Buffer.from('1f8b0800000000000003', 'hex')],
    ['deeply nested', '['.repeat(60_000)],
    ['longer than what was read', success, true],
  ])('leaves the outcome unknown: %s', (_what, body, bodyTruncated = false) => {
    const result = { ...perhapsDone, code: 'unreadable-answer', httpStatus: 200 };
    expect(judge({ body, bodyTruncated })).toMatchObject(result);
  });
});

describe('a call that starts something', () => {
  const startsWork = true;

  it.each([500, 502, 503, 504])('leaves open after a %i whether it did', (status) => {
    expect(judge({ startsWork, status, retryAfter: '30' })).toEqual({
      ...perhapsDone,
      code: `http-${status}`,
      httpStatus: status,
      retryAfterMs: 30_000,
    });
  });

  it.each([408, 425, 429])('is certainly not done after a %i', (status) => {
    expect(judge({ startsWork, status })).toMatchObject(notDone);
  });

  it('is judged like any other by its envelope and by statuses that stop the run', () => {
    expect(judge({ startsWork, status: 404 })).toMatchObject({ kind: 'fatal' });
    expect(judge({ startsWork, body: { Status: false, StatusCode: 2001 } })).toMatchObject(notDone);
    expect(judge({ startsWork, body: { Status: true, StatusCode: 2000 } })).toMatchObject({
      kind: 'accepted',
    });
  });
});

describe('a status other than success', () => {
  it.each([408, 425, 429, 500, 501, 502, 503, 504, 599])('%i is retryable', (status) => {
    expect(judge({ status })).toEqual({ ...notDone, code: `http-${status}`, httpStatus: status });
  });

  it.each([408, 425, 429, 500, 503])('%i includes Retry-After', (status) => {
    expect(judge({ status, retryAfter: '30' })).toMatchObject({ ...notDone, retryAfterMs: 30_000 });
    expect(judge({ status, retryAfter: 'Fri, 20 Nov 2026 02:30:10 GMT' })).toMatchObject({
      retryAfterMs: 10_000,
    });
    expect(judge({ status, retryAfter: '-1' })).not.toHaveProperty('retryAfterMs');
  });

  it.each([400, 413, 422])('%i is a refusal of the content', (status) => {
    expect(judge({ status, retryAfter: '30' })).toEqual({
      kind: 'refused',
      code: `http-${status}`,
      httpStatus: status,
    });
  });

  it.each([
    300, 301, 302, 303, 304, 307, 308, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 414, 415, 426, 431,
    451,
  ])('%i stops the run', (status) => {
    expect(judge({ status })).toEqual({ kind: 'fatal', code: `http-${status}`, httpStatus: status });
  });

  it.each([201, 202, 204, 206])('%i leaves the outcome unknown, even with a success inside', (status) => {
    expect(judge({ status, body: { Status: true, StatusCode: 2000 } })).toMatchObject({
      ...perhapsDone,
      code: `http-${status}`,
    });
  });

  it('is judged by the HTTP status; the code inside is kept as evidence', () => {
    const body = { Status: true, Message: 'Forbidden', StatusCode: 2000 };
    expect(judge({ status: 403, body })).toEqual({
      kind: 'fatal',
      code: 'http-403',
      httpStatus: 403,
      statusCode: 2000,
      answer: 'Forbidden',
    });
  });
});

describe("the service's words", () => {
  it.each([
    ['the Message', { Message: 'Invalid hotel', StatusCode: 2009 }, 'Invalid hotel'],
    ['the message of {code, message}', { code: 2009, message: 'invalid' }, 'invalid'],
    ['the message of an object without code', { message: 'Forbidden' }, 'Forbidden'],
    ['the whole body where there is no message', { error: 7 }, '{"error":7}'],
    ['the whole body where the message is empty', { Message: ' ', code: 1 }, '{"Message":" ","code":1}'],
    ['an HTML page', '<h1>Sorry</h1>', '<h1>Sorry</h1>'],
  ])('are %s', (_what, body, answer) => {
    expect(judge({ status: 500, body })).toMatchObject({ answer });
  });

  it('can be stored in any database: no control characters, no broken text, no blanks around it', () => {
    expect(judge({ body: { StatusCode: 2009, Message: '\n bad hotel\0' } }).answer).toBe('bad hotel');
    expect(judge({ status: 500, body: 'a\0b\r\nc\u001B[1m\u0085d' })).toMatchObject({
      answer: 'a b c [1m d',
    });
    expect(judge({ status: 500, body: Buffer.from([0x61, 0xff, 0x62]) })).toMatchObject({
      answer: 'a\uFFFDb',
    });
    expect(judge({ body: '{"StatusCode":2009,"Message":"x\\u0000y\\ud800z"}' })).toMatchObject({
      answer: 'x y\uFFFDz',
    });
  });

  it('are cut after 2,000 bytes, between two characters', () => {
    const long = 'é'.repeat(1_500);
    expect(judge({ status: 500, body: `x${long}` })).toMatchObject({ answer: `x${'é'.repeat(999)}` });
    expect(judge({ body: { StatusCode: 2009, Message: long } })).toMatchObject({ answer: 'é'.repeat(1_000) });
  });
});

it('searches no more than 65,536 characters of the words for what must not be kept', () => {
  const searched: number[] = [];
  const redact = (text: string) => {
    searched.push(text.length);
    return text;
  };
  const body = Buffer.from(JSON.stringify({ StatusCode: 2009, Message: 'x'.repeat(70_000) }));
  const answer = { status: 200, retryAfter: undefined, body, bodyTruncated: false, now: new Date() };
  judgeAnswer(answer, { codes: defaultStatusCodes }, redact);
  expect(searched).toEqual([65_536]);
});

describe('a failure of the network', () => {
  it.each([
    ['wrong', { kind: 'fatal' }],
    ['unreached', notDone],
    ['broken', perhapsDone],
  ] as const)('%s is judged by whether the service can have acted, and has no words', (meaning, result) => {
    expect(judgeFailure({ code: 'connection-reset', meaning })).toEqual({
      ...result,
      code: 'connection-reset',
    });
  });
});
