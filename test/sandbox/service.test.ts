import { once } from 'node:events';
import { request as openRequest } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { patienceMs } from '../support/patience.js';
import {
  accepted,
  accountHeaders,
  ask,
  bookingsOf,
  byBody,
  byFile,
  filePath,
  post,
  put,
  readOutbox,
  refused,
  type StartedSandbox,
  startedSandbox,
  waitForLine,
} from './started-sandbox.js';

const jsonHeaders = { ...accountHeaders, 'Content-Type': 'application/json' };
const eml = expect.stringMatching(/^e-mail about 1 of call \d: .*\.eml$/);

/** A call that the test can abort. */
function open({ service }: StartedSandbox, body: string, length = Buffer.byteLength(body)) {
  const headers = { ...jsonHeaders, 'Content-Length': String(length) };
  const request = openRequest(`${service.baseUrl}${byBody}`, { method: 'POST', headers, agent: false });
  const failed = once(request, 'error').then(([error]) => error.code);
  request.write(body);
  return { failed, leave: () => void request.destroy(new Error('left')) };
}

describe('The service', () => {
  it('has exact paths, each with one method', async () => {
    const sandbox = await startedSandbox();
    const review = { 'Content-Type': 'application/json' };
    for (const [method, path, status] of [
      ['GET', '/mappings/', 404],
      ['POST', '/mappings', 405],
      ['POST', '/content/GetMasterHotelBrands', 405],
      ['POST', '/mappings/ExportMappingsFile', 405],
      ['PUT', byBody, 405],
      ['POST', byFile, 405],
      ['POST', byBody.toLowerCase(), 404],
      ['POST', `/${byBody}`, 404],
      ['POST', '/hotels/%52eviewMappingsOfBookedHotels', 404],
      ['POST', `${byBody}?trace=1`, 200],
    ] as const) {
      const call = method === 'GET' ? {} : { body: JSON.stringify({ Hotels: [{ ServiceId: 1 }] }) };
      const answer = await ask(sandbox, path, { method, headers: review, ...call });
      const json = status === 200 ? accepted : refused(2002);
      expect([method, path, answer]).toMatchObject([method, path, { status, json }]);
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.headers.get('date')).toBe('Fri, 20 Nov 2026 14:03:07 GMT');
      const other = method === 'POST' ? 'GET' : 'POST';
      expect(answer.headers.get('allow')).toBe(status === 405 ? other : null);
    }
  });

  it('knows one account, and tells nothing of what was sent', async () => {
    const sandbox = await startedSandbox();
    const strangers = [{ apikey: 'key-2' }, { accountId: 'account-2' }, { apikey: '' }, { accountId: '' }];
    for (const headers of strangers)
      expect(await post(sandbox, { Hotels: [] }, { headers })).toMatchObject({
        status: 403,
        json: refused(2003),
      });
    expect(sandbox.told).toEqual(strangers.map(() => 'request rejected: 403'));
    expect(sandbox.service.counts.calls).toBe(0);
  });

  it('listens on 127.0.0.1 only, and can be restarted on its port', async () => {
    const sandbox = await startedSandbox();
    const port = Number(new URL(sandbox.service.baseUrl).port);
    await expect(once(connect(port, '127.0.0.2'), 'connect')).rejects.toThrow('ECONNREFUSED');
    await expect(startedSandbox({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await post(sandbox, { Hotels: [{ ServiceId: 1 }] });
    await sandbox.close();
    expect(await post(await startedSandbox({ port }), { Hotels: [{ ServiceId: 1 }] })).toMatchObject({
      json: accepted,
    });
  });
});

describe('A review by body', () => {
  it('verifies each booking and reports the wrong mappings in one e-mail, after the answer', async () => {
    const sandbox = await startedSandbox();
    const { right, wrong } = bookingsOf(sandbox.world);
    const Hotels = [wrong, right, { ServiceId: 1 }, { ...wrong, ProviderHotelId: 'unheard-of' }];
    expect(await post(sandbox, { Hotels })).toMatchObject({ status: 200, json: accepted });
    expect(await post(sandbox, { Hotels: [right] })).toMatchObject({ json: accepted });
    await sandbox.close();
    expect(sandbox.service.counts).toEqual({ calls: 2, reviewed: 5, incorrect: 2 });
    const emails = await readOutbox(sandbox);
    expect(emails).toEqual([
      expect.stringContaining('The review of the request body of 14:03:07 UTC found 2'),
    ]);
    expect(emails[0]?.match(/^ {2}Provider: +\S.*$/gm)).toEqual([
      `  Provider:  NorthStar, hotel ${wrong.ProviderHotelId}`,
      '  Provider:  NorthStar, hotel unheard-of',
    ]);
    expect(sandbox.told.toSorted()).toEqual([
      'call 1 by-body: 200 2000, 4 bookings accepted, 2 wrongly mapped',
      'call 2 by-body: 200 2000, 1 booking accepted',
      expect.stringMatching(/^e-mail about 2 of call 1: .*\.eml$/),
    ]);
  });

  const whole = {
    ...{
      ServiceId: 1042,
      BookingReferenceId: 'BR-1',
      BookingClientName: 'Ana Núñez',
      ProviderName: 'Sakura',
    },
    ...{ ProviderHotelId: '000123', CheckInDate: '2026-11-20', CheckOutDate: '2026-11-22' },
  };
  const notJson = 'The body is not JSON in UTF-8.';

  it('is refused as a whole, without quoting a value', async () => {
    const sandbox = await startedSandbox();
    const wrongIds = [undefined, '1042', 0, -5, 1.5, 2 ** 53];
    const fields: readonly (readonly [object, string])[] = [
      ...wrongIds.map((id) => [{ ServiceId: id }, 'Hotels[1].ServiceId: expected a JSON integer'] as const),
      [{ Rooms: '2' }, 'Hotels[1] has an unknown field "Rooms"'],
      [{ checkInDate: '2026-11-20' }, 'unknown field "checkInDate"'],
      [{ ProviderHotelId: 123 }, 'Hotels[1].ProviderHotelId: expected a text'],
      [{ BookingClientName: ' \t ' }, 'BookingClientName: expected a text that is not blank'],
      [{ CheckInDate: '20112026' }, 'CheckInDate: expected a calendar day as YYYY-MM-DD.'],
      [{ CheckOutDate: '2026-02-30' }, 'CheckOutDate: expected a calendar day'],
    ];
    for (const [body, statusCode, message] of [
      ['', 2002, notJson],
      ['{"Hotels":[{"ServiceId":1}', 2002, notJson],
      [[whole], 2002, 'The body: expected an object'],
      [{ hotels: [whole] }, 2002, '"hotels" is not a field of the body: expected only Hotels.'],
      [{ Hotels: [whole], Extra: 1 }, 2002, '"Extra" is not a field'],
      [{}, 2021, 'Hotels is missing'],
      [{ Hotels: [] }, 2021, 'Hotels is empty'],
      [{ Hotels: { 0: whole } }, 2002, 'Hotels: expected an array.'],
      [{ Hotels: [whole, null] }, 2009, 'Hotels[1]: expected an object.'],
      ...fields.map(
        ([changes, words]) => [{ Hotels: [whole, { ...whole, ...changes }] }, 2009, words] as const,
      ),
    ] as const) {
      const { status, json } = await post(sandbox, body);
      expect([body, status, json]).toEqual([body, 200, refused(statusCode)]);
      expect(json.Message).toContain(message);
      expect(json.Message).not.toMatch(/Ana|20112026|1042/);
    }
    expect(sandbox.service.counts.reviewed).toBe(0);
    expect(sandbox.told[0]).toBe('call 1 by-body: 200 2002, 0 bookings accepted');
  });

  it('may have only master ids, a check-out before the check-in, a guest called Null, and any Unicode', async () => {
    const odd = { ...whole, CheckOutDate: '2026-11-19', BookingClientName: 'Null', ProviderName: '東京 🏨' };
    const body = { Hotels: [odd, { ServiceId: Number.MAX_SAFE_INTEGER }] };
    expect(await post(await startedSandbox(), body)).toMatchObject({ json: accepted });
  });

  it('has the type application/json, in UTF-8 and not compressed', async () => {
    const sandbox = await startedSandbox();
    const statusOf = async (headers: Readonly<Record<string, string>>) =>
      (await post(sandbox, { Hotels: [whole] }, { headers })).status;
    for (const type of ['Application/JSON', 'application/json;charset="UTF-8"'])
      expect(await statusOf({ 'Content-Type': type })).toBe(200);
    for (const type of ['text/plain', 'application/jsonp', 'application/json; charset=latin1'])
      expect(await statusOf({ 'Content-Type': type })).toBe(415);
    expect(await statusOf({ 'Content-Encoding': 'gzip' })).toBe(415);
  });

  it('that is endless is refused while it is still coming', async () => {
    const sandbox = await startedSandbox();
    const url = `${sandbox.service.baseUrl}${byBody}`;
    const request = openRequest(url, { method: 'POST', headers: jsonHeaders });
    request.on('error', () => {});
    let isAnswered = false;
    const answered = once(request, 'response').finally(() => {
      isAnswered = true;
    });
    const part = Buffer.alloc(1024 * 1024, ' ');
    while (!isAnswered) await Promise.race([answered, new Promise((sent) => request.write(part, sent))]);
    expect((await answered)[0]).toMatchObject({ statusCode: 413 });
    request.destroy();
  });

  it('of which a part arrives is not accepted', async () => {
    const sandbox = await startedSandbox();
    const { leave } = open(sandbox, '{"Hotels":[{"ServiceId":1}]}', 1_000);
    await vi.waitUntil(() => sandbox.service.counts.calls === 1, { timeout: patienceMs });
    leave();
    await waitForLine(sandbox, 'call 1 by-body: no answer, 0 bookings accepted');
  });
});

describe('Faults', () => {
  it.each([
    ['status:500@1', '500 2001', null],
    ['status:503:2@1', '503 2001', '2'],
    ['status:429@1', '429 2030', null],
    ['status:401@1', '401 2003', null],
    ['status:413@1', '413 2002', null],
    ['refuse:4242@1', '200 4242', null],
    ['latency:0.01@1', '200 2000', null],
  ])('answer as they say: %s', async (fault, answered, retryAfter) => {
    const sandbox = await startedSandbox({ faults: [fault] });
    const { status, json, headers } = await post(sandbox, { Hotels: [{ ServiceId: 1 }] });
    expect([`${status} ${json.StatusCode}`, headers.get('retry-after')]).toEqual([answered, retryAfter]);
    expect(sandbox.service.counts).toMatchObject({ calls: 1, reviewed: fault.startsWith('latency') ? 1 : 0 });
  });

  it('count authenticated calls to operations, even those refused because of their content', async () => {
    const sandbox = await startedSandbox({
      faults: ['status:503@2', 'by-file/refuse:2009@2', 'result-missing@1-'],
    });
    const path = `${byFile}?ftpFilePath=${filePath}`;
    const { right } = bookingsOf(sandbox.world);
    const answers = [
      await post(sandbox, { Hotels: [right] }, { headers: { 'Content-Type': 'text/plain' } }),
      await post(sandbox, { Hotels: [right] }, { headers: { apikey: 'key-2' } }),
      await ask(sandbox, '/hotels'),
      await ask(sandbox, byBody),
      await ask(sandbox, path),
      await ask(sandbox, path),
      await ask(sandbox, path),
    ];
    expect(answers.map(({ status, json }) => `${status} ${json.StatusCode}`)).toEqual([
      ...['415 2002', '403 2003', '404 2002', '405 2002', '503 2001', '200 2009', '200 2002'],
    ]);
    expect(answers[4]?.headers.get('retry-after')).toBeNull();
    expect(sandbox.service.counts.calls).toBe(4);
  });

  it('delay an answer, not its e-mail: neither client nor sandbox need to wait for it', async () => {
    const sandbox = await startedSandbox({ faults: ['latency:86400@1-2'] });
    const body = JSON.stringify({ Hotels: [bookingsOf(sandbox.world).wrong] });
    const [first, second] = [open(sandbox, body), open(sandbox, body)];
    await vi.waitUntil(() => sandbox.service.counts.reviewed === 2, { timeout: patienceMs });
    expect(await post(sandbox, body)).toMatchObject({ json: accepted });
    first.leave();
    await waitForLine(sandbox, '(latency): no answer, 1 booking accepted, 1 wrongly mapped');
    await waitForLine(sandbox, 'e-mail about 1 of call', 2);
    await sandbox.close();
    expect(await second.failed).toBe('ECONNRESET');
    expect(sandbox.told.filter((line) => line.startsWith('e-mail'))).toEqual([eml, eml, eml]);
  });
});

describe('Closing the sandbox', () => {
  it('disconnects a silent client and one in the middle of its body, and is idempotent', async () => {
    const sandbox = await startedSandbox();
    const silent = connect(Number(new URL(sandbox.service.baseUrl).port), '127.0.0.1');
    await once(silent, 'connect');
    const ended = once(silent.resume(), 'close');
    const { failed } = open(sandbox, '{"Hotels":', 1_000);
    await vi.waitUntil(() => sandbox.service.counts.calls === 1, { timeout: patienceMs });
    await Promise.all([sandbox.close(), sandbox.close()]);
    expect(await failed).toBe('ECONNRESET');
    await ended;
  });

  it('aborts the review of a file', async () => {
    const sandbox = await startedSandbox();
    const record = '1,BR-1,Ann Lee,Bedlink,BL-1,20112026,21112026\n';
    const header =
      'Service Mappings Id,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate\n';
    await put(sandbox, `${header}${record.repeat(200_000)}`);
    const call = expect(ask(sandbox, `${byFile}?ftpFilePath=${filePath}`)).rejects.toThrow('fetch failed');
    await vi.waitUntil(() => sandbox.service.counts.calls === 1, { timeout: patienceMs });
    await sandbox.close();
    await call;
    expect(sandbox.told).toEqual(['call 1 by-file: no answer, 0 bookings accepted']);
  });
});
