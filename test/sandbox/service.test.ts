import { once } from 'node:events';
import { Agent, request as openRequest } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Refusal } from '../../src/sandbox/common/errors.js';
import { createGate } from '../support/gate.js';
import { patienceMs } from '../support/patience.js';
import { type AskedRequest, askNode } from './http-clients.js';
import {
  accountHeaders,
  byBody,
  byFile,
  jsonHeaders,
  rightBooking,
  type StartedService,
  type StartOptions,
  startedService,
  success,
  wrongBooking,
} from './started-service.js';

const maxBodyBytes = 64 * 1024 * 1024;

async function startForTest(options?: StartOptions) {
  const service = await startedService(options);
  onTestFinished(() => service.close());
  return service;
}

function post(service: StartedService, hotels: readonly unknown[], changes: Partial<AskedRequest> = {}) {
  const body = JSON.stringify({ Hotels: hotels });
  return ask(service, { method: 'POST', path: byBody, headers: jsonHeaders, body, ...changes });
}

function get(service: StartedService, path: string) {
  return ask(service, { method: 'GET', path, headers: accountHeaders });
}

async function ask(
  { baseUrl }: StartedService,
  { path, ...request }: Omit<AskedRequest, 'url'> & { readonly path: string },
) {
  const outcome = await askNode({ ...request, url: `${baseUrl}${path}` });
  if (outcome.kind !== 'answered') throw new Error(`expected an answer, got: ${outcome.kind}`);
  return { status: outcome.status, json: JSON.parse(outcome.body), headers: outcome.headers };
}

describe('A review by body', () => {
  it('verifies each booking and reports the wrong mappings in one e-mail', async () => {
    const service = await startForTest();
    const others = [rightBooking, { ServiceId: 1 }, { ...wrongBooking, ProviderHotelId: 'unheard-of' }];
    expect(await post(service, [wrongBooking, ...others])).toMatchObject({ status: 200, json: success });
    expect(await post(service, [rightBooking])).toMatchObject({ status: 200, json: success });
    await service.close();

    expect(service.emails).toEqual([
      {
        about: 'the request body of 14:03:07 UTC',
        incorrect: [
          {
            serviceId: wrongBooking.ServiceId,
            bookingReferenceId: 'BR-1',
            bookingClientName: 'Ana Núñez',
            providerName: wrongBooking.ProviderName,
            providerHotelId: wrongBooking.ProviderHotelId,
            checkInDate: '2026-11-20',
            checkOutDate: '2026-11-22',
          },
          expect.objectContaining({ providerHotelId: 'unheard-of' }),
        ],
      },
    ]);
    expect(service.counts).toMatchObject({ calls: 2, reviewed: 5, incorrect: 2 });
  });

  it('accepts nothing of a body with one refused booking', async () => {
    const service = await startForTest();
    const refusal = { Status: false, StatusCode: 2009 };
    const answer = await post(service, [wrongBooking, { ServiceId: '7' }]);
    expect(answer).toMatchObject({ status: 200, json: refusal });
    await service.close();
    expect(service.emails).toEqual([]);
    expect(service.counts).toMatchObject({ calls: 1, reviewed: 0, incorrect: 0 });
  });

  it('answers before the e-mail is written', async () => {
    const gate = createGate();
    const service = await startForTest({ deliver: () => gate.passed });
    expect(await post(service, [wrongBooking])).toMatchObject({ json: success });
    expect(service.told.filter((line) => line.includes('e-mail'))).toEqual([]);
    gate.open();
    await vi.waitFor(() => expect(service.told).toContain('e-mail about 1 of call 1: outbox/1.eml'), {
      timeout: patienceMs,
    });
  });

  it('reports an e-mail that could not be written, without quoting it', async () => {
    const service = await startForTest({
      deliver: () => Promise.reject(Object.assign(new Error('no space for Ana Núñez'), { code: 'ENOSPC' })),
    });
    expect(await post(service, [wrongBooking])).toMatchObject({ json: success });
    await vi.waitFor(() => expect(service.told).toContain('no e-mail about 1 of call 1: ENOSPC'), {
      timeout: patienceMs,
    });
    expect(service.told.join('\n')).not.toContain('Ana');
  });

  it('accepts a body of 64 MB and refuses one more byte with 413', async () => {
    const service = await startForTest();
    const body = JSON.stringify({ Hotels: [rightBooking] });
    const whole = body.padEnd(body.length + maxBodyBytes - Buffer.byteLength(body));
    expect(await post(service, [], { body: whole })).toMatchObject({ status: 200, json: success });
    expect(await post(service, [], { body: `${whole} ` })).toMatchObject({
      status: 413,
      json: { Status: false, StatusCode: 2002, Message: expect.stringContaining('67108864 bytes') },
    });
    expect(service.counts).toMatchObject({ reviewed: 1 });
  });

  it('refuses an endless body while it is still coming', async () => {
    const service = await startForTest();
    const url = `${service.baseUrl}${byBody}`;
    const request = openRequest(url, { method: 'POST', headers: jsonHeaders });
    onTestFinished(() => void request.destroy());
    request.on('error', () => {});
    const part = Buffer.alloc(1024 * 1024, ' ');
    let ended = false;
    const answered = once(request, 'response').finally(() => {
      ended = true;
    });
    while (!ended) await Promise.race([answered, new Promise((resolve) => request.write(part, resolve))]);
    expect((await answered)[0]).toMatchObject({ statusCode: 413 });
  });

  it('accepts nothing of an incomplete body', async () => {
    const service = await startForTest();
    const headers = { ...jsonHeaders, 'Content-Length': '1000' };
    const request = openRequest(`${service.baseUrl}${byBody}`, { method: 'POST', headers });
    request.on('error', () => {});
    request.write('{"Hotels":[{"ServiceId":1}]}');
    await vi.waitUntil(() => service.counts.calls === 1, { timeout: patienceMs });
    request.destroy();
    const call = 'call 1 by-body: no answer, 0 bookings accepted';
    await vi.waitFor(() => expect(service.told).toEqual([call]), { timeout: patienceMs });
  });
});

describe('A review by file', () => {
  it('reviews the file named in the query', async () => {
    const service = await startForTest();
    const path = `${byFile}?ftpFilePath=VerifyMappings%2F112026/20112026.csv`;
    expect(await get(service, path)).toMatchObject({ status: 200, json: success });
    expect(service.files).toEqual(['VerifyMappings/112026/20112026.csv']);
    // The bookings of a file are verified, and counted, with its result.
    expect(service.counts).toMatchObject({ calls: 1, reviewed: 0, incorrect: 0 });
    expect(service.told).toEqual(['call 1 by-file: 200 2000, 3 bookings accepted']);
  });

  it('passes on why the file was refused', async () => {
    const service = await startForTest({
      acceptFile: () => Promise.reject(new Refusal(2002, 'There is no such file.')),
    });
    expect(await get(service, `${byFile}?ftpFilePath=a.csv`)).toMatchObject({
      status: 200,
      json: { Status: false, Message: 'There is no such file.', StatusCode: 2002 },
    });
    expect(service.counts).toMatchObject({ calls: 1 });
  });

  it('answers 500 and the reason when the sandbox itself fails', async () => {
    const service = await startForTest({
      acceptFile: () => Promise.reject(Object.assign(new Error('in Ana.csv'), { code: 'EIO' })),
    });
    expect(await get(service, `${byFile}?ftpFilePath=a.csv`)).toMatchObject({
      status: 500,
      json: { Status: false, Message: 'The sandbox failed: EIO.', StatusCode: 2001 },
    });
    expect(service.told).toEqual(['the sandbox failed: EIO']);
  });
});

describe('The service', () => {
  it.each([
    ['GET', '/mappings/', 404],
    ['GET', '/content/GetMasterHotelChains', 404],
    ['POST', '/mappings', 405],
    ['POST', '/content/GetMasterHotelBrands', 405],
    ['POST', '/mappings/ExportMappingsFile', 405],
    ['PUT', byBody, 405],
    ['HEAD', byFile, 405],
    ['POST', byBody.toLowerCase(), 404],
    ['POST', `${byBody}/`, 404],
    ['POST', `/${byBody}`, 404],
    ['POST', '/hotels/%52eviewMappingsOfBookedHotels', 404],
    ['POST', `${byBody}?trace=1`, 200],
  ])('has exact paths, each with one method: %s %s is answered %d', async (method, path, status) => {
    const service = await startForTest();
    const body = JSON.stringify({ Hotels: [rightBooking] });
    const url = `${service.baseUrl}${path}`;
    expect(await askNode({ method, url, headers: jsonHeaders, body })).toMatchObject({ status });
  });

  it('reports the outcome of each request', async () => {
    const service = await startForTest();
    await post(service, [rightBooking, wrongBooking]);
    await post(service, []);
    await post(service, [], { headers: { ...jsonHeaders, apikey: 'key-2' } });
    await get(service, '/Mappings');
    await get(service, byBody);
    await service.close();
    expect(service.told.filter((line) => !line.startsWith('e-mail'))).toEqual([
      'call 1 by-body: 200 2000, 2 bookings accepted, 1 wrongly mapped',
      'call 2 by-body: 200 2021, 0 bookings accepted',
      'request rejected: 403',
      'request rejected: 404',
      'request rejected: 405',
    ]);
    expect(service.told.join('\n')).not.toMatch(/Ana|key-|account-/);
  });

  it('keeps a connection alive, even if a body was left unread', async () => {
    const service = await startForTest();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const open = vi.spyOn(agent, 'createConnection');
    const body = JSON.stringify({ Hotels: [rightBooking] }).padEnd(2_000_000);
    const statuses: number[] = [];
    for (const [path, headers] of [
      [byBody, jsonHeaders],
      [byBody, accountHeaders],
      [byBody, { ...jsonHeaders, apikey: 'key-2' }],
      [byFile, jsonHeaders],
      ['/nowhere', jsonHeaders],
      [byBody, jsonHeaders],
    ] as const) {
      const outcome = await askNode(
        { method: 'POST', url: `${service.baseUrl}${path}`, headers, body },
        agent,
      );
      statuses.push(outcome.kind === 'answered' ? outcome.status : 0);
    }
    expect(statuses).toEqual([200, 415, 403, 405, 404, 200]);
    expect(open).toHaveBeenCalledTimes(1);
  });

  it('listens on 127.0.0.1 only', async () => {
    const service = await startForTest();
    expect(await get(service, '/')).toMatchObject({ status: 404 });
    // Another address of this machine.
    const baseUrl = service.baseUrl.replace('127.0.0.1', '127.0.0.2');
    await expect(get({ ...service, baseUrl }, '/')).rejects.toThrow('connect');
  });

  it('does not start on a port in use', async () => {
    const service = await startForTest();
    const { port } = new URL(service.baseUrl);
    await expect(startedService({ port: Number(port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('can be restarted on the same port', async () => {
    const service = await startForTest();
    await post(service, [rightBooking]);
    await service.close();
    const { port } = new URL(service.baseUrl);
    const again = await startForTest({ port: Number(port) });
    expect(await post(again, [rightBooking])).toMatchObject({ json: success });
  });
});

describe('Closing the service', () => {
  it('waits for an e-mail that is being written, even when called again', async () => {
    const gate = createGate();
    const service = await startForTest({ deliver: () => gate.passed });
    await post(service, [wrongBooking]);
    let isClosed = false;
    const closed = Promise.all([service.close(), service.close()]).then(() => {
      isClosed = true;
    });
    // It no longer listens, so it only waits for the e-mail.
    await vi.waitFor(() => expect(post(service, [rightBooking])).rejects.toThrow('ECONNREFUSED'), {
      timeout: patienceMs,
    });
    expect(isClosed).toBe(false);
    gate.open();
    await closed;
    expect(service.told.at(-1)).toContain('e-mail about 1 of call 1: ');
  });

  it('disconnects a silent client', async () => {
    const service = await startForTest();
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
    await once(socket, 'connect');
    const ended = once(socket.resume(), 'close');
    await service.close();
    await ended;
  });

  it('disconnects a client in the middle of its body', async () => {
    const service = await startForTest();
    const request = openRequest(`${service.baseUrl}${byBody}`, { method: 'POST', headers: jsonHeaders });
    request.write('{"Hotels":');
    const failed = once(request, 'error');
    await vi.waitUntil(() => service.counts.calls === 1, { timeout: patienceMs });
    await service.close();
    expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' });
    expect(service.told).toEqual([expect.stringContaining('call 1 by-body: no answer')]);
  });
});
