import { describe, expect, it } from 'vitest';
import { judgeSender } from '../../../src/cases/mails/sender.js';

const headed = (...headers: string[]) => Buffer.from([...headers, '', 'From: body@x.example'].join('\r\n'));
/** Whether an e-mail with these headers counts where only this address is listed. */
const isOf = (address: string, ...headers: string[]) =>
  judgeSender(headed(...headers), { from: [address] }) === 'listed';

describe('The sender of an e-mail', () => {
  it.each([
    ['<Reviews@Service.example>', 'reviews@service.example'],
    ['Reviews\r\n <reviews@service.example>', 'reviews@service.example'],
    ['"reviews@service.example" <a@other.example>', 'a@other.example'],
    ['"x\\" <reviews@service.example>" <a@other.example>', 'a@other.example'],
    ['reviews@service.example <a@other.example>', undefined],
    ['reviews@service.example, a@other.example', undefined],
    ['<a@other.example> <reviews@service.example>', undefined],
  ])('%s is %s', (written, address) => {
    const addresses = ['reviews@service.example', 'a@other.example', 'body@x.example', ''];
    const found = addresses.filter((one) => isOf(one, `From: ${written}`));
    expect(found).toEqual(address === undefined ? [] : [address]);
  });

  it('is nobody if two headers name one, or none does', () => {
    const two = ['From: a@service.example', 'From: b@service.example'];
    expect(isOf('@service.example', ...two)).toBe(false);
    expect(isOf('@service.example', 'To: a@service.example')).toBe(false);
  });

  it('is listed by its address or exactly its domain', () => {
    const judge = (address: string, ...from: string[]) => judgeSender(headed(`From: ${address}`), { from });
    expect(judge('a@service.example', '@Service.example')).toBe('listed');
    expect(judge('a@service.example', 'A@service.example')).toBe('listed');
    expect(judge('a@mail.service.example', '@service.example')).toBe('unlisted');
    expect(judge('a@notservice.example', '@service.example')).toBe('unlisted');
    expect(judge('a@service.example')).toBe('anybody');
    expect(judgeSender(headed(), { from: ['@'] })).toBe('unlisted');
  });

  it.each([
    ['mx.agency.example; dmarc=pass header.from=service.example', 'listed'],
    ['MX.agency.example 1; spf=none; dmarc=pass', 'listed'],
    ['mx.agency.example; dkim=pass header.d=service.example', 'listed'],
    ['mx.agency.example; dkim=pass header.i=@service.example', 'listed'],
    ['mx.agency.example; dkim=pass header.d=ice.example', 'unproven'],
    ['mx.agency.example; dkim=fail header.d=service.example', 'unproven'],
    ['mx.agency.example; dmarc=pass header.from=other.example', 'unproven'],
    ['mx.agency.example; dkim=pass header.d=example', 'unproven'],
    ['mx.agency.example; dmarc=fail header.from=service.example; spf=pass', 'unproven'],
    ['mx.agency.example; spf=fail reason="; dmarc=pass header.from=service.example"', 'unproven'],
    ['mx.agency.example; spf=fail (; dmarc=pass header.from=service.example)', 'unproven'],
    ['mx.agency.example; spf=fail (a (b) ; dmarc=pass header.from=service.example x)', 'unproven'],
    ['mx.other.example; dmarc=pass header.from=service.example', 'unproven'],
  ])('with the results %s is %s', (results, standing) => {
    const senders = { from: ['@service.example'], authenticatedBy: 'mx.agency.example' };
    const header = `Authentication-Results: ${results}`;
    expect(judgeSender(headed(header, 'From: a@service.example'), senders)).toBe(standing);
    // One that came with the e-mail stands below.
    const forged = 'Authentication-Results: mx.agency.example; dmarc=pass';
    const own = 'Authentication-Results: mx.agency.example; dmarc=fail';
    expect(judgeSender(headed(own, header, forged, 'From: a@service.example'), senders)).toBe('unproven');
  });
});
